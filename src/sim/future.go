package sim

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/src/trace"
)

// future is the Oracle of a run: the whole workload in memory.
type future struct {
	r         *run
	functions []trace.Profile
	all       []trace.Invocation
	at        [][]policies.Time // by FuncID: arrivals of all passes
	next      []int             // by FuncID: the first one that is still to come
	span      time.Duration
}

func newFuture(w trace.Workload, r *run) (*future, error) {
	functions, all, err := trace.Collect(w)
	if err != nil {
		return nil, err
	}
	f := &future{r: r, functions: functions, all: all, at: make([][]policies.Time, len(functions)), next: make([]int, len(functions)), span: w.Span}
	passes := 1
	if r.cfg.Warmup {
		passes = 2
	}
	if n := len(all); n > 0 {
		f.span = max(f.span, all[n-1].At+1)
	}
	for pass := range passes {
		begin := epoch.Add(time.Duration(pass) * f.span)
		for i := range all {
			fn := all[i].Function
			f.at[fn] = append(f.at[fn], begin.Add(all[i].At))
		}
	}
	return f, nil
}

// workload returns the one that was read.
func (f *future) workload(w trace.Workload) trace.Workload {
	c := trace.FromSlice(w.Name, f.span, f.functions, f.all)
	c.Note = w.Note
	return c
}

func (f *future) arrived(fn policies.FuncID) { f.next[fn]++ }

// NextArrival returns the k-th arrival of the function that is still to come.
func (f *future) NextArrival(fn policies.FuncID, k int) policies.Time {
	i := f.next[fn] + k - 1
	if k < 1 || i >= len(f.at[fn]) {
		return policies.Never
	}
	return f.at[fn][i]
}

// Exec returns the execution time of a request that is in the system.
func (f *future) Exec(id policies.RequestID) time.Duration {
	if id < 0 || int(id) >= len(f.r.requests) {
		return 0
	}
	return f.r.requests[id].exec
}
