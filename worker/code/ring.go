package code

import "time"

// ringSize is how many unknown names are remembered.
const ringSize = 1024

// ring remembers the names that were last found to be unknown. Forgetting
// one too early costs a question, nothing more. Guarded by Cache.mu.
type ring struct {
	when  map[string]time.Time
	names [ringSize]string
	next  int
}

func (r *ring) add(name string, at time.Time) {
	if r.when == nil {
		r.when = make(map[string]time.Time, ringSize)
	}
	if _, ok := r.when[name]; !ok {
		delete(r.when, r.names[r.next])
		r.names[r.next] = name
		r.next = (r.next + 1) % ringSize
	}
	r.when[name] = at
}

func (r *ring) fresh(name string, now time.Time, limit time.Duration) bool {
	at, ok := r.when[name]
	return ok && now.Sub(at) <= limit
}

// forget makes a name worth asking for; its place in the ring stays taken.
func (r *ring) forget(name string) {
	if _, ok := r.when[name]; ok {
		r.when[name] = time.Time{}
	}
}
