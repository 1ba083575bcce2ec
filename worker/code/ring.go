package code

import "time"

// ringSize is how many unknown names are remembered.
const ringSize = 1024

// ring remembers the names that were last found to be unknown. Forgetting
// one too early costs a question, nothing more. Guarded by Cache.mu.
type ring struct {
	when  map[string]absence
	names [ringSize]string
	next  int
}

// absence is that there was no such lambda.
type absence struct {
	at    time.Time
	stamp string // how new that was; see api.HeaderStamp
}

func (r *ring) add(name string, a absence) {
	if r.when == nil {
		r.when = make(map[string]absence, ringSize)
	}
	if _, ok := r.when[name]; !ok {
		delete(r.when, r.names[r.next])
		r.names[r.next] = name
		r.next = (r.next + 1) % ringSize
	}
	r.when[name] = a
}

// fresh tells whether a name was unknown a moment ago, by news that are at
// least as new as a stamp.
func (r *ring) fresh(name, least string, now time.Time, limit time.Duration) bool {
	a, ok := r.when[name]
	return ok && now.Sub(a.at) <= limit && a.stamp >= least
}

// forget makes a name worth asking for; its place in the ring stays taken.
func (r *ring) forget(name string) {
	if a, ok := r.when[name]; ok {
		r.when[name] = absence{stamp: a.stamp}
	}
}
