package soak

import (
	"slices"
	"sync"
	"time"
)

// cause is what was done to the worker.
type cause int

const (
	sandboxKilled cause = iota
	workerKilled
)

// outage is a span of time in which something was broken on purpose.
type outage struct {
	cause      cause
	begin, end time.Time // end is zero while it lasts
}

// outages are all of them. What runs beside one may end in an error.
type outages struct {
	mu  sync.Mutex
	all []outage
}

// recovery is how long after the end of an outage an error may still be due to
// it: a sandbox that is being made when it is killed is tried again first.
const recovery = 2 * time.Second

// begin notes an outage before it begins; end notes that it is over.
func (o *outages) begin(c cause) (end func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := len(o.all)
	o.all = append(o.all, outage{cause: c, begin: time.Now()})
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.all[i].end = time.Now()
	}
}

// during tells whether anything that began at t and has just ended ran beside
// an outage of a cause.
func (o *outages) during(c cause, t time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.all, func(x outage) bool {
		return x.cause == c && (x.end.IsZero() || x.end.Add(recovery).After(t))
	})
}
