package replay

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Replayer sends workloads to one worker, or to one boss.
type Replayer struct {
	URL      string          // of the worker or boss, without a path
	Others   []string        // further bosses of the same cluster, turned to when one goes away; may be nil
	Turned   func(to string) // called when it turns to another one, once for each until one answers; may be nil
	Client   *http.Client    // must not follow redirects; see NewClient
	Header   http.Header     // sent with every request; may be nil
	Body     Body            // what the handlers are asked to do with their time
	Progress func(Progress)  // called once a second from one goroutine; may be nil
	// GiveUp is how long nobody may answer before Run gives up with ErrGone,
	// while requests fail, or are in flight for so much longer than what they ask
	// for takes; 0 never gives up.
	GiveUp time.Duration
	// Unbounded means that what requests ask for does not say how long they take:
	// others share their processor, or lambdas take their own time. Then silence
	// alone is no sign that nobody is there, only failures are.
	Unbounded bool
}

// Body says how a handler spends the time that it is asked to take.
type Body int

// Bodies.
const (
	Sleep Body = iota // asleep, as if it waited for another service
	Busy              // using the processor
)

// Progress is a replay under way.
type Progress struct {
	Elapsed              time.Duration
	Sent, Done, InFlight int
	Cold, Delayed, Warm  int
	Errors               int
}

// How long the other side may take to take a connection, and to agree on TLS.
const (
	connectLimit   = 3 * time.Second
	handshakeLimit = 5 * time.Second
)

// NewClient returns a client that keeps enough connections open for an
// open-loop replay, and gives up on an answer after timeout, on a connection
// after 3 s. It opens at most so many connections at a time, beyond which
// requests wait for one, and their latency shows it; 0 is no limit.
func NewClient(timeout time.Duration, connections int) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: connectLimit}).DialContext,
			TLSHandshakeTimeout: handshakeLimit,
			MaxIdleConns:        1024,
			MaxIdleConnsPerHost: 1024,
			MaxConnsPerHost:     connections,
			IdleConnTimeout:     time.Minute,
			DisableCompression:  true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Run replays the workload and waits for every answer. When it ends early
// nothing more is sent, what is in flight is given up, and the samples are
// complete all the same; the error is that of ctx, ErrGone, ErrFiles or a
// *DriftError.
func (r *Replayer) Run(ctx context.Context, w Workload) ([]Sample, error) {
	run := &run{Replayer: r, workload: w, samples: make([]Sample, len(w.Requests)), landed: make([]atomic.Bool, len(w.Requests)), begin: time.Now()}
	for i, q := range w.Requests {
		run.samples[i] = Sample{Request: q, Err: ErrNotSent}
	}
	run.bases = append([]string{r.URL}, r.Others...)
	flying, land := context.WithCancelCause(ctx)
	defer land(nil)
	run.land = land
	var watchers sync.WaitGroup
	if r.Progress != nil {
		watchers.Go(func() { run.report(flying) })
	}
	if r.GiveUp > 0 {
		watchers.Go(func() { (&lookout{run: run}).watch(flying) })
	}
	if err := run.send(flying); err != nil {
		land(err)
	}
	run.flights.Wait()
	err := run.outcome(ctx, flying)
	land(nil)
	watchers.Wait()
	return run.samples, err
}

// outcome is why the replay ended; nil if everything was sent and somebody was
// there to the end.
func (r *run) outcome(ctx, flying context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case flying.Err() != nil:
		return context.Cause(flying)
	case r.GiveUp > 0 && r.silent.Load() >= goneAfter:
		return ErrGone
	}
	return nil
}

// run is one replay under way.
type run struct {
	*Replayer
	workload Workload
	bases    []string     // of the bosses, or of the one worker
	turns    atomic.Int64 // from one base to the next
	round    atomic.Int64 // those since the last answer
	samples  []Sample     // element i belongs to the flight of request i until flights is waited for
	landed   []atomic.Bool
	land     context.CancelCauseFunc // gives up what is in flight, and sends no more
	begin    time.Time
	flights  sync.WaitGroup
	sent     atomic.Int64
	done     atomic.Int64
	errors   atomic.Int64
	kinds    [3]atomic.Int64 // cold, delayed, warm
	answered atomic.Int64    // when the last answer came, ns since begin
	silent   atomic.Int64    // requests since then that failed without an answer
}

// send starts every request at its moment.
func (r *run) send(ctx context.Context) error {
	drift := newDriftMeter(r.workload)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := range r.workload.Requests {
		at := r.workload.Requests[i].At
		intended := r.begin.Add(at)
		if err := await(ctx, timer, intended); err != nil {
			return err
		}
		drift.add(at, time.Since(intended))
		switch {
		case drift.Worst > MostDrift:
			return &DriftError{drift.Drift}
		case r.refused():
			return ErrGone
		}
		r.sent.Add(1)
		r.flights.Go(func() {
			r.fly(ctx, &r.samples[i], intended)
			r.landed[i].Store(true)
		})
	}
	return nil
}

// await returns at the moment, or with the error of ctx.
func await(ctx context.Context, timer *time.Timer, moment time.Time) error {
	left := time.Until(moment)
	if left <= 0 {
		return ctx.Err()
	}
	timer.Reset(left)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fly sends one request and fills its sample.
func (r *run) fly(ctx context.Context, s *Sample, intended time.Time) {
	s.Late = time.Since(intended)
	s.Err = r.exchange(ctx, s)
	s.Latency = time.Since(intended)
	r.count(s)
}

func (r *run) count(s *Sample) {
	switch {
	case s.Err == nil:
		r.kinds[s.kind()].Add(1)
	default:
		r.errors.Add(1)
	}
	switch {
	case s.Status != 0:
		r.hear()
		r.round.Store(0)
	case errors.Is(s.Err, ErrFiles):
		r.land(ErrFiles)
	case int64(s.Request.At) >= r.answered.Load(): // an older one tells nothing of today
		r.silent.Add(1)
	}
	r.done.Add(1)
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
		Cold: int(r.kinds[0].Load()), Delayed: int(r.kinds[1].Load()), Warm: int(r.kinds[2].Load()),
		InFlight: max(sent-done, 0), Errors: int(r.errors.Load()),
	}
}
