package replay

import (
	"context"
	"errors"
	"time"
)

// ErrGone: nobody answers any more.
var ErrGone = errors.New("nobody answers any more")

// goneAfter is how many requests must fail or hang besides, so that a quiet
// workload is not given up for one of them.
const goneAfter = 10

// hear begins to wait for the next answer.
func (r *run) hear() {
	r.answered.Store(int64(time.Since(r.begin)))
	r.silent.Store(0)
}

// silence is how long nobody has answered.
func (r *run) silence() time.Duration {
	return time.Since(r.begin) - time.Duration(r.answered.Load())
}

// refused tells whether requests have done nothing but fail for too long.
func (r *run) refused() bool {
	return r.GiveUp > 0 && r.silent.Load() >= goneAfter && r.silence() > r.GiveUp
}

// lookout sees whether those who take requests answer them.
type lookout struct {
	*run
	oldest int // every request before it has landed
	first  int // the first that was sent to the boss that is asked now
}

// Bounds of the time between two looks.
const (
	mostLook  = time.Second
	leastLook = 10 * time.Millisecond
)

// watch ends the replay when nobody answers any more. A boss that takes requests
// and does not answer them is left for the next one first.
func (l *lookout) watch(ctx context.Context) {
	tick := time.NewTicker(max(min(l.GiveUp/4, mostLook), leastLook))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if l.refused() || l.hangs() && !l.leave() {
			l.land(ErrGone)
			return
		}
	}
}

// hangs tells whether nobody has answered for longer than anything in flight
// takes, while enough of it is overdue. What a request asks for is an execution
// and at worst an initialisation; how long it may queue nobody knows, but then
// others are answered.
func (l *lookout) hangs() bool {
	if l.Unbounded {
		return false
	}
	now, sent := time.Since(l.begin), int(l.sent.Load())
	for l.oldest < sent && l.landed[l.oldest].Load() {
		l.oldest++
	}
	overdue, longest := 0, time.Duration(0)
	for i := max(l.oldest, l.first); i < sent; i++ {
		if l.landed[i].Load() {
			continue
		}
		q := &l.workload.Requests[i]
		takes := q.Exec + l.workload.Lambdas[q.Lambda].longestInit()
		longest = max(longest, takes)
		if now-q.At > takes+l.GiveUp {
			overdue++
		}
	}
	return overdue+int(l.silent.Load()) >= goneAfter && l.silence() > longest+l.GiveUp
}

// leave turns to the next boss, whose time begins now; false if there is none
// that was not asked since the last answer, or if nothing is left to be sent.
func (l *lookout) leave() bool {
	if int(l.round.Load()) >= len(l.bases)-1 || int(l.sent.Load()) == len(l.workload.Requests) {
		return false
	}
	l.turn(l.turns.Load())
	l.first = int(l.sent.Load())
	l.hear()
	return true
}
