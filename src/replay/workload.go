package replay

import (
	"fmt"
	"time"

	"github.com/open-lambda/open-lambda/src/trace"
)

// Lambda is a function of the workload as it is installed on the worker.
type Lambda struct {
	Name  string
	MemMB int64
	Init  time.Duration // what its initialisation is made to cost
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
	times := func(d time.Duration) time.Duration { return time.Duration(float64(d) * factor) }
	var w Workload
	for i, f := range functions {
		w.Lambdas = append(w.Lambdas, Lambda{
			Name:  fmt.Sprintf("f%02d", i),
			MemMB: int64(f.MemMB + 0.5),
			Init:  times(time.Duration(f.MemMB * float64(InitPerMB))),
		})
	}
	for _, inv := range invocations {
		w.Requests = append(w.Requests, Request{At: times(inv.At), Lambda: inv.Function, Exec: times(inv.Exec)})
	}
	return w
}
