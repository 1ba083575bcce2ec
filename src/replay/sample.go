package replay

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// Sample is what became of one request.
type Sample struct {
	Request Request
	Late    time.Duration // how long after the intended moment it was sent
	Latency time.Duration // from the intended moment to the last byte
	Status  int           // HTTP status, 0 if there was no answer
	Start   string        // warm, delayed or cold, as the worker says; "" if it does not
	Worker  string        // which worker answered; "" if none says so
	Queue   time.Duration // from arrival at the worker to start of execution
	Init    time.Duration // of the sandbox, if it was a cold start
	Exec    time.Duration // execution as the worker measured it
	Err     error         // no answer, or not the one expected
}

// ErrNotSent marks the samples of requests that a cancelled replay never sent.
var ErrNotSent = errors.New("not sent")

// Sent tells whether the request was sent.
func (s *Sample) Sent() bool { return !errors.Is(s.Err, ErrNotSent) }

// Wait is how long the request waited before its execution began: for the
// replayer, for a connection, for a sandbox.
func (s *Sample) Wait() time.Duration { return s.Late + s.Queue }

// Scheduling is what everything but the execution took, the network and the
// proxies included (per-invocation scheduling latency, Dirigent SOSP'24).
func (s *Sample) Scheduling() time.Duration { return max(s.Latency-s.Exec, 0) }

// Slowdown is the latency over the execution that was asked for; 0 if none was.
func (s *Sample) Slowdown() float64 {
	if s.Request.Exec <= 0 {
		return 0
	}
	return float64(s.Latency) / float64(s.Request.Exec)
}

// kind is the index of the start: cold, delayed, warm.
func (s *Sample) kind() int {
	switch s.Start {
	case "cold":
		return 0
	case "delayed":
		return 1
	}
	return 2
}

// read takes over what the answer's header says.
func (s *Sample) read(resp *http.Response) {
	s.Status = resp.StatusCode
	s.Start, s.Worker = resp.Header.Get(api.HeaderStart), resp.Header.Get(api.HeaderWorker)
	measured := timings(resp.Header.Get(api.HeaderTiming))
	s.Queue, s.Init, s.Exec = measured["queue"], measured["init"], measured["exec"]
}

// event is the body of a request whose handler shall take so long.
func (b Body) event(exec time.Duration) string {
	text := `{"ms": ` + strconv.FormatFloat(float64(exec)/float64(time.Millisecond), 'f', 3, 64)
	if b == Busy {
		text += `, "busy": true`
	}
	return text + "}"
}
