package sock

import (
	"context"
	"errors"
	"sync"
	"time"
)

// parkTime bounds how long a child may take to get ready.
const parkTime = 30 * time.Second

// restTime is how long the pool rests after a child was taken: forking the next
// one at once would slow the start that the child was taken for.
const restTime = 15 * time.Millisecond

// pool keeps children that are ready for any lambda.
type pool struct {
	p    *Provider
	size int
	wake chan struct{} // capacity 1: there may be work for run

	mu      sync.Mutex
	parked  []*child
	forking int           // children being forked for somebody who waits
	taken   time.Time     // when one was last taken
	changed chan struct{} // closed when parked changes
}

func newPool(p *Provider, size int) *pool {
	return &pool{p: p, size: size, wake: make(chan struct{}, 1), changed: make(chan struct{})}
}

// run keeps the pool full until ctx ends, then empties it. It rests while
// somebody waits for a fork, which is worth more than the next parked child.
func (q *pool) run(ctx context.Context) {
	defer q.drain()
	for {
		var again <-chan time.Time
		wants, rest := q.wants()
		switch {
		case !wants:
		case rest > 0:
			again = time.After(rest)
		default:
			again = time.After(q.grow(ctx))
		}
		select {
		case <-ctx.Done():
			return
		case <-q.wake:
		case <-again:
		}
	}
}

// wants reports whether the pool needs a child, and how long to wait first.
func (q *pool) wants() (bool, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.forking == 0 && len(q.parked) < q.size, restTime - time.Since(q.taken)
}

// grow makes one child and says how long to wait before the next.
func (q *pool) grow(ctx context.Context) time.Duration {
	c, err := q.p.forkChild(FromPool, q.p.cfg.Network)
	if err == nil {
		err = q.admit(ctx, c)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNoZygote):
		return 10 * time.Millisecond
	}
	q.p.log.Debug("cannot grow pool", "error", err)
	return 200 * time.Millisecond
}

// admit waits until a child is ready and keeps it.
func (q *pool) admit(ctx context.Context, c *child) error {
	ctx, cancel := context.WithTimeout(ctx, parkTime)
	defer cancel()
	if err := c.AwaitParked(ctx); err != nil {
		q.p.discard(c)
		return err
	}
	q.p.logError("foresee limits", q.p.foresee(c.group))
	q.mu.Lock()
	defer q.mu.Unlock()
	q.parked = append(q.parked, c)
	q.announce()
	return nil
}

// announce wakes who waits for the pool to change; mu is held.
func (q *pool) announce() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// take returns the child that has been parked longest, nil if there is none.
func (q *pool) take() *child {
	defer q.poke()
	for {
		q.mu.Lock()
		if len(q.parked) == 0 {
			q.mu.Unlock()
			return nil
		}
		c := q.parked[0]
		q.parked = append(q.parked[:0], q.parked[1:]...)
		q.taken = time.Now()
		q.mu.Unlock()
		select {
		case <-c.proc.done: // killed from outside while parked
			q.p.discard(c)
		default:
			return c
		}
	}
}

// ready tells whether a child is parked.
func (q *pool) ready() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.parked) > 0
}

// forkFirst marks a fork that somebody waits for, until done is called.
func (q *pool) forkFirst() (done func()) {
	q.mu.Lock()
	q.forking++
	q.mu.Unlock()
	return func() {
		q.mu.Lock()
		q.forking--
		q.mu.Unlock()
		q.poke()
	}
}

func (q *pool) poke() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// full waits until the pool is full or ctx ends.
func (q *pool) full(ctx context.Context) error {
	for {
		q.mu.Lock()
		n, changed := len(q.parked), q.changed
		q.mu.Unlock()
		if n >= q.size {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (q *pool) drain() {
	q.mu.Lock()
	parked := q.parked
	q.parked, q.size = nil, 0
	q.mu.Unlock()
	for _, c := range parked {
		q.p.discard(c)
	}
}
