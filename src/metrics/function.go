package metrics

import (
	"strconv"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/prometheus/client_golang/prometheus"
)

// Outcome is how an invocation got its sandbox: a policies.Kind, or NoStart.
type Outcome uint8

// NoStart is the outcome of an invocation that never had a sandbox.
const NoStart = Outcome(policies.Delayed) + 1

// String returns the label of the outcome.
func (o Outcome) String() string {
	if o == NoStart {
		return "none"
	}
	return policies.Kind(o).String()
}

// Function counts the invocations of one function.
type Function struct {
	name  string
	m     *Metrics
	exec  prometheus.Observer
	queue [NoStart]prometheus.Observer
	codes sync.Map // codeKey -> prometheus.Counter
}

type codeKey struct {
	outcome Outcome
	code    int
}

// functions are the known ones, by name.
type functions struct {
	metrics *Metrics
	all     sync.Map // name -> *Function
}

// Function returns the counters of a function. Call it for functions that
// exist only: each one takes memory until Forget.
func (m *Metrics) Function(name string) *Function {
	if f, ok := m.functions.all.Load(name); ok {
		return f.(*Function)
	}
	f := &Function{name: name, m: m, exec: m.exec.WithLabelValues(name)}
	for k := range f.queue {
		f.queue[k] = m.queue.WithLabelValues(Outcome(k).String())
	}
	got, _ := m.functions.all.LoadOrStore(name, f)
	return got.(*Function)
}

// Forget removes the counters of a function that is gone.
func (m *Metrics) Forget(name string) {
	m.functions.all.Delete(name)
	m.invocations.DeletePartialMatch(prometheus.Labels{"function": name})
	m.exec.DeleteLabelValues(name)
}

// Answered counts one invocation. queue is the time until it had a sandbox,
// exec from then to the end; both are ignored without a start.
func (f *Function) Answered(o Outcome, code int, queue, exec time.Duration) {
	f.counter(codeKey{o, code}).Inc()
	if o < NoStart {
		f.queue[o].Observe(queue.Seconds())
		f.exec.Observe(exec.Seconds())
	}
}

func (f *Function) counter(k codeKey) prometheus.Counter {
	if c, ok := f.codes.Load(k); ok {
		return c.(prometheus.Counter)
	}
	c := f.m.invocations.WithLabelValues(f.name, k.outcome.String(), strconv.Itoa(k.code))
	f.codes.Store(k, c)
	return c
}
