package memory

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/boss/async"
)

// ErrDown is what everything fails with while the store is taken away.
var ErrDown = errors.New("the store is down")

// Window is how long a Queue knows the ids that it has seen.
const Window = 2 * time.Minute

// Queue is an async.Queue.
type Queue struct {
	limit int
	lease time.Duration

	mu    sync.Mutex
	down  bool
	items []*item
	seen  map[string]time.Time
	more  chan struct{} // closed and replaced when something may be due
}

// item is work that is not done. It is due at a time: that of its lease's end
// while somebody holds it.
type item struct {
	work []byte
	due  time.Time
	turn int // grows with every delivery
}

// NewQueue makes a queue that takes so many items.
func NewQueue(limit int, lease time.Duration) *Queue {
	return &Queue{limit: limit, lease: lease, seen: map[string]time.Time{}, more: make(chan struct{})}
}

// SetDown takes the queue away, or gives it back.
func (q *Queue) SetDown(down bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.down = down
	q.poke()
}

// poke wakes who waits. mu is held.
func (q *Queue) poke() {
	close(q.more)
	q.more = make(chan struct{})
}

// Lease is part of async.Queue.
func (q *Queue) Lease() time.Duration { return q.lease }

// Len is how many items are not done.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// Put is part of async.Queue.
func (q *Queue) Put(_ context.Context, id string, work []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	if q.down {
		return ErrDown
	}
	if at, ok := q.seen[id]; ok && now.Sub(at) < Window {
		return nil
	}
	if len(q.items) >= q.limit {
		return async.ErrFull
	}
	q.seen[id] = now
	q.items = append(q.items, &item{work: bytes.Clone(work), due: now})
	q.poke()
	return nil
}

// Take is part of async.Queue.
func (q *Queue) Take(ctx context.Context) (async.Delivery, error) {
	for {
		d, wait, more, err := q.next()
		if d != nil || err != nil {
			return d, err
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-more:
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		}
		t.Stop()
	}
}

// idle is how long Take sleeps if nothing is there.
const idle = time.Hour

// next delivers what is due, or says how long to wait.
func (q *Queue) next() (async.Delivery, time.Duration, chan struct{}, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.down {
		return nil, 0, nil, ErrDown
	}
	now, wait := time.Now(), idle
	for _, i := range q.items {
		if left := i.due.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		i.due = now.Add(q.lease)
		i.turn++
		return &delivery{q, i, i.turn}, 0, nil, nil
	}
	return nil, wait, q.more, nil
}

// delivery is an async.Delivery.
type delivery struct {
	queue *Queue
	item  *item
	turn  int
}

// Work is part of async.Delivery.
func (d *delivery) Work() []byte { return d.item.work }

// hold does something to the item if this delivery still holds it.
func (d *delivery) hold(do func()) error {
	d.queue.mu.Lock()
	defer d.queue.mu.Unlock()
	if d.queue.down {
		return ErrDown
	}
	if d.item.turn == d.turn {
		do()
		d.queue.poke()
	}
	return nil
}

// Done is part of async.Delivery.
func (d *delivery) Done(context.Context) error {
	return d.hold(func() {
		for n, i := range d.queue.items {
			if i == d.item {
				d.queue.items = append(d.queue.items[:n], d.queue.items[n+1:]...)
				return
			}
		}
	})
}

// Later is part of async.Delivery.
func (d *delivery) Later(_ context.Context, after time.Duration) error {
	return d.hold(func() {
		d.item.due = time.Now().Add(after)
		d.item.turn++ // this delivery holds it no longer
	})
}

// Busy is part of async.Delivery.
func (d *delivery) Busy(context.Context) error {
	return d.hold(func() { d.item.due = time.Now().Add(d.queue.lease) })
}
