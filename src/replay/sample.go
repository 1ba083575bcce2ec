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
	Request   Request
	Late      time.Duration // how long after the intended moment it was sent
	Connected time.Duration // from the intended moment until it had a connection; 0 if it never had one
	Latency   time.Duration // from the intended moment to the last byte
	Status    int           // HTTP status, 0 if there was no answer
	Start     string        // warm, delayed or cold, as the worker says; "" if it does not
	Worker    string        // which worker answered; "" if none says so
	Queue     time.Duration // from arrival at the worker's dispatcher to start of execution
	Init      time.Duration // of the sandbox, if it was a cold start
	Exec      time.Duration // execution as the worker measured it
	Err       error         // no answer, or not the one expected
}

// ErrNotSent marks the samples of requests that a cancelled replay never sent.
var ErrNotSent = errors.New("not sent")

// Sent tells whether the request was sent.
func (s *Sample) Sent() bool { return !errors.Is(s.Err, ErrNotSent) }

// Overhead is what everything but the execution took, from the intended moment
// on: the wait for the replayer, for a connection, in every backlog and proxy
// and for a sandbox, and the answer's way back, since nobody can tell it from
// the way there (per-invocation scheduling latency in Dirigent, SOSP'24). It is
// more than the wait before the execution, by Transit at most. An answer that
// does not say how long the execution took counts as all overhead.
func (s *Sample) Overhead() time.Duration { return max(s.Latency-s.Exec, 0) }

// Waited is the part of the overhead that is known to lie before the execution:
// until there was a connection, and in the worker's queue.
func (s *Sample) Waited() time.Duration { return max(s.Late, s.Connected) + s.Queue }

// Transit is the rest of the overhead: the way there and back, backlogs, HTTP,
// a boss. The wait before the execution is between Waited and Overhead.
func (s *Sample) Transit() time.Duration { return max(s.Overhead()-s.Waited(), 0) }

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
