package replay

import (
	"fmt"
	"math"
	"time"

	"github.com/open-lambda/open-lambda/src/trace"
)

// Lambda is a function of the workload as it is installed on the worker.
type Lambda struct {
	Name  string
	MemMB int64
	Init  time.Duration // what its initialisation is made to cost, at the median
	// InitSigma spreads the initialisations: each takes Init times a log-normal
	// factor with this sigma and median 1, drawn by the sandbox. 0 makes them alike.
	InitSigma float64
	Exec      time.Duration // the longest execution that it is asked for
}

// Request is one request of a workload.
type Request struct {
	At     time.Duration // intended moment, since the beginning of the replay
	Lambda int           // index into Workload.Lambdas
	Exec   time.Duration // how long its handler is asked to run
}

// Workload is what is replayed. Requests are in order of At.
type Workload struct {
	Lambdas  []Lambda
	Requests []Request
}

// Span is the intended moment of the last request.
func (w Workload) Span() time.Duration {
	if len(w.Requests) == 0 {
		return 0
	}
	return w.Requests[len(w.Requests)-1].At
}

// InitPerMB is the initialisation time per MB of a function's memory. It fits
// the CIDRE paper's mean cold start of 208 ms on the Azure sample (1.7 ms/MB).
const InitPerMB = 1700 * time.Microsecond

// Scale makes a workload of functions and their invocations: arrivals,
// executions and initialisations are multiplied by factor. Function i is
// called f00, f01 and so on; its memory stays what it is.
func Scale(functions []trace.Function, invocations []trace.Invocation, factor float64) Workload {
	profiles := make([]trace.Profile, len(functions))
	for i, f := range functions {
		profiles[i] = trace.Profile{MB: int64(f.MemMB + 0.5), Cold: time.Duration(f.MemMB * float64(InitPerMB))}
	}
	return FromTrace(profiles, invocations, "f%02d", factor)
}

// LeastMB is the least memory that a worker gives a sandbox.
const LeastMB = 16

// FromTrace makes a workload of what trace.Collect returns. Function i is
// called by its number, in the format given; its memory stays what it is, but
// is at least LeastMB, and its cold start becomes the initialisation, with the
// same spread. Arrivals, executions and initialisations are multiplied by factor.
func FromTrace(profiles []trace.Profile, invocations []trace.Invocation, format string, factor float64) Workload {
	times := func(d time.Duration) time.Duration { return time.Duration(float64(d) * factor) }
	w := Workload{Lambdas: make([]Lambda, len(profiles)), Requests: make([]Request, len(invocations))}
	for i, p := range profiles {
		w.Lambdas[i] = Lambda{Name: fmt.Sprintf(format, i), MemMB: max(p.MB, LeastMB), Init: times(p.Cold), InitSigma: p.ColdSigma}
	}
	for i, inv := range invocations {
		w.Requests[i] = Request{At: times(inv.At), Lambda: inv.Function, Exec: times(inv.Exec)}
		l := &w.Lambdas[inv.Function]
		l.Exec = max(l.Exec, w.Requests[i].Exec)
	}
	return w
}

// Until returns the part of the workload whose requests are intended before
// the moment, with the lambdas that it calls.
func (w Workload) Until(end time.Duration) Workload {
	index := map[int]int{} // from old to new
	var out Workload
	for _, q := range w.Requests {
		if q.At >= end {
			break
		}
		i, known := index[q.Lambda]
		if !known {
			i = len(out.Lambdas)
			index[q.Lambda] = i
			out.Lambdas = append(out.Lambdas, w.Lambdas[q.Lambda])
		}
		q.Lambda = i
		out.Requests = append(out.Requests, q)
	}
	return out
}

// longestInit is what an initialisation takes at most: all but one of a thousand
// where starts differ.
func (l *Lambda) longestInit() time.Duration {
	return time.Duration(float64(l.Init) * math.Exp(3*l.InitSigma))
}

// LongestExec is the longest execution that is asked for.
func (w Workload) LongestExec() time.Duration {
	var most time.Duration
	for _, l := range w.Lambdas {
		most = max(most, l.Exec)
	}
	return most
}

// MeanExec is the mean execution that is asked for.
func (w Workload) MeanExec() time.Duration {
	var sum time.Duration
	for _, q := range w.Requests {
		sum += q.Exec
	}
	return sum / time.Duration(max(len(w.Requests), 1))
}

// LargestMB is the memory of the largest lambda.
func (w Workload) LargestMB() int64 {
	var most int64
	for _, l := range w.Lambdas {
		most = max(most, l.MemMB)
	}
	return most
}
