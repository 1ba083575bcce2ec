package repro

import (
	"fmt"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/trace"
)

// memo keeps what was computed from traces alone, by name.
type memo struct {
	mu    sync.Mutex // of what follows
	known map[string]any
}

// once computes a value unless it is known. compute may call once itself; a
// value that two ask for at the same time may be computed twice.
func once[T any](d *Data, key string, compute func() T) T {
	if v, ok := d.memo.get(key).(T); ok {
		return v
	}
	v := compute()
	d.memo.put(key, v)
	return v
}

func (m *memo) get(key string) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[key]
}

func (m *memo) put(key string, v any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]any{}
	}
	m.known[key] = v
}

// called is a workload of real counts, in memory.
type called struct {
	functions []trace.Function
	all       []trace.Invocation
}

// real expands s1 or s2 as they are. That they can be read is tested, so an
// error here is a broken invariant.
func (d *Data) real(name string, sigma float64, seed uint64) called {
	return once(d, fmt.Sprintf("real %s %v %d", name, sigma, seed), func() called {
		w, err := FindWorkload(name)
		if err != nil {
			panic("repro: " + err.Error())
		}
		all, err := trace.Expand(w.Source.Functions, trace.Options{Sigma: sigma, Seed: seed, Minutes: d.brief})
		if err != nil {
			panic("repro: " + err.Error())
		}
		return called{w.Source.Functions, all}
	})
}

// described is a workload's statistics, or why there are none.
type described struct {
	trace.Statistics
	err error
}

// describe returns the statistics of a workload as it is simulated.
func (d *Data) describe(name string, seed uint64) (trace.Statistics, error) {
	known := once(d, fmt.Sprintf("describe %s %d", name, seed), func() described {
		w, err := FindWorkload(name)
		if err != nil {
			return described{err: err}
		}
		opened, err := w.Open(d.brief, seed)
		if err != nil {
			return described{err: err}
		}
		s, err := trace.Describe(opened)
		return described{s, err}
	})
	return known.Statistics, known.err
}

// coldStart is that of a function at a cost per MB.
func coldStart(f trace.Function, perMB time.Duration) time.Duration {
	return time.Duration(f.MemMB * float64(perMB))
}
