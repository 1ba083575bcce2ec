package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Sample is what became of one request.
type Sample struct {
	Request Request
	Late    time.Duration // how long after the intended moment it was sent
	Latency time.Duration // from the intended moment to the last byte
	Status  int           // HTTP status, 0 if there was no answer
	Start   string        // warm, delayed or cold, as the worker says; "" if it does not
	Queue   time.Duration // from arrival at the worker to start of execution
	Exec    time.Duration // execution as the worker measured it
	Err     error         // no answer, or not the one expected
}

// ErrNotSent marks the samples of requests that a cancelled replay never sent.
var ErrNotSent = errors.New("not sent")

// Progress is a replay under way.
type Progress struct {
	Elapsed              time.Duration
	Sent, Done, InFlight int
	Errors               int
}

// Replayer sends workloads to one worker.
type Replayer struct {
	URL      string         // of the worker, without a path
	Client   *http.Client   // must not follow redirects or limit connections per host
	Progress func(Progress) // called once a second from one goroutine; may be nil
}

// NewClient returns a client that keeps enough connections open for an
// open-loop replay, and gives up on an answer after timeout.
func NewClient(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			MaxIdleConns:        1024,
			MaxIdleConnsPerHost: 1024,
			IdleConnTimeout:     time.Minute,
			DisableCompression:  true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Run replays the workload and waits for every answer. When ctx ends, nothing
// more is sent, what is in flight is given up, and the error is that of ctx;
// the samples are complete all the same.
func (r *Replayer) Run(ctx context.Context, w Workload) ([]Sample, error) {
	run := &run{Replayer: r, workload: w, samples: make([]Sample, len(w.Requests)), begin: time.Now()}
	for i, q := range w.Requests {
		run.samples[i] = Sample{Request: q, Err: ErrNotSent}
	}
	progressCtx, stop := context.WithCancel(ctx)
	var reporter sync.WaitGroup
	if r.Progress != nil {
		reporter.Go(func() { run.report(progressCtx) })
	}
	err := run.send(ctx)
	run.flights.Wait()
	stop()
	reporter.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return run.samples, err
}

// run is one replay under way.
type run struct {
	*Replayer
	workload Workload
	samples  []Sample // element i belongs to the flight of request i until flights is waited for
	begin    time.Time
	flights  sync.WaitGroup
	sent     atomic.Int64
	done     atomic.Int64
	errors   atomic.Int64
}

// send starts every request at its moment.
func (r *run) send(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := range r.workload.Requests {
		intended := r.begin.Add(r.workload.Requests[i].At)
		timer.Reset(time.Until(intended))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		r.sent.Add(1)
		r.flights.Go(func() { r.fly(ctx, &r.samples[i], intended) })
	}
	return nil
}

// fly sends one request and fills its sample.
func (r *run) fly(ctx context.Context, s *Sample, intended time.Time) {
	s.Late = time.Since(intended)
	s.Err = r.exchange(ctx, s)
	s.Latency = time.Since(intended)
	if s.Err != nil {
		r.errors.Add(1)
	}
	r.done.Add(1)
}

func (r *run) exchange(ctx context.Context, s *Sample) error {
	name := r.workload.Lambdas[s.Request.Lambda].Name
	body := `{"ms": ` + strconv.FormatFloat(float64(s.Request.Exec)/float64(time.Millisecond), 'f', 3, 64) + `}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL+"/run/"+name, strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.Client.Do(req)
	if err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	s.Status = resp.StatusCode
	s.Start = resp.Header.Get("X-Ol-Start")
	measured := timings(resp.Header.Get("Server-Timing"))
	s.Queue, s.Exec = measured["queue"], measured["exec"]
	if s.Status != http.StatusOK {
		return fmt.Errorf("call %s: status %d: %s", name, s.Status, firstLine(string(text)))
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// report tells about the progress once a second until ctx ends, and once more then.
func (r *run) report(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.Progress(r.now())
		case <-ctx.Done():
			r.Progress(r.now())
			return
		}
	}
}

func (r *run) now() Progress {
	done, sent := int(r.done.Load()), int(r.sent.Load())
	return Progress{
		Elapsed: time.Since(r.begin), Sent: sent, Done: done,
		InFlight: max(sent-done, 0), Errors: int(r.errors.Load()),
	}
}
