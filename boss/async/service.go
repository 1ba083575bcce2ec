package async

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/pause"
)

// Config is what a Service needs.
type Config struct {
	Queue  Queue
	States States
	// Run passes an invocation to a worker, as it does for a client that waits.
	Run http.Handler
	// Exists tells whether a lambda is installed; nil: the workers know.
	Exists func(name string) bool
	// Retry is what the ol.yaml of a lambda says; nil: nothing.
	Retry     func(name string) lambda.Async
	Default   lambda.Async  // where ol.yaml is silent; zeros: 5 attempts, 1 s, 1 min
	Slots     int           // invocations that run at once; 0: 64
	MaxBody   int64         // largest body of a request, bytes; 0: 4 MB
	MaxResult int64         // largest body of an answer that is kept, bytes; 0: 4 MB
	Keep      time.Duration // how long an answer, or a cancellation, is kept; 0: 1 h
	KeepDead  time.Duration // how long dead letters are kept; 0: 30 days
	Expire    time.Duration // age at which what nobody could begin with is given up; 0: 1 day
	Drain     time.Duration // how long what runs may take to end when the boss stops; 0: 30 s
	// Patience is how long the store may take for a write; 0: 3 s.
	Patience time.Duration
	Logger   *slog.Logger // nil: silent
}

func (c *Config) fill() error {
	if c.Queue == nil || c.States == nil || c.Run == nil {
		return errors.New("make async service: a queue, states and a way to run are required")
	}
	if c.Retry == nil {
		c.Retry = func(string) lambda.Async { return lambda.Async{} }
	}
	c.Default = c.Default.Inherit(lambda.Async{Attempts: 5, BaseMS: 1000, CapMS: 60_000})
	orDefault(&c.Slots, 64)
	orDefault(&c.MaxBody, 4<<20)
	orDefault(&c.MaxResult, 4<<20)
	orDefault(&c.Keep, time.Hour)
	orDefault(&c.KeepDead, 30*24*time.Hour)
	orDefault(&c.Expire, 24*time.Hour)
	orDefault(&c.Drain, 30*time.Second)
	orDefault(&c.Patience, 3*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

func orDefault[T ~int | ~int64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// Service is asynchronous invocations on one boss.
type Service struct {
	cfg     Config
	trouble atomic.Bool // the last access to the store by a slot failed
}

// New makes a service; Run takes work from the queue.
func New(cfg Config) (*Service, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	return &Service{cfg: cfg}, nil
}

// Run runs queued invocations until ctx ends, then gives those in progress
// Drain to end, and hands back the rest to the queue.
func (s *Service) Run(ctx context.Context) {
	work, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var wg sync.WaitGroup
	for range s.cfg.Slots {
		wg.Go(func() { s.slot(ctx, work) })
	}
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	<-ctx.Done()
	t := time.NewTimer(s.cfg.Drain)
	defer t.Stop()
	select {
	case <-ended:
	case <-t.C:
		cut()
		<-ended
	}
}

// storePause is how long a slot waits for a store that fails.
const storePause = 500 * time.Millisecond

// slot runs one invocation after the other: takes until ctx ends, and works
// until work does.
func (s *Service) slot(ctx, work context.Context) {
	for ctx.Err() == nil {
		d, err := s.cfg.Queue.Take(ctx)
		if err == nil && d != nil {
			err = s.handle(work, d)
		}
		if ctx.Err() == nil {
			s.note(err)
		}
		if err != nil {
			pause.For(ctx, storePause)
		}
	}
}

// note logs when the store's trouble begins, and when it ends.
func (s *Service) note(err error) {
	switch {
	case err != nil && s.trouble.CompareAndSwap(false, true):
		s.cfg.Logger.Warn("asynchronous invocations wait for the store", slog.Any("error", err))
	case err == nil && s.trouble.CompareAndSwap(true, false):
		s.cfg.Logger.Info("asynchronous invocations go on")
	}
}

// brief bounds one access to the store.
func (s *Service) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.cfg.Patience)
}

// load reads the state of a job: nil and 0 if there is none.
func (s *Service) load(ctx context.Context, id string) (*record, uint64, error) {
	ctx, cancel := s.brief(ctx)
	defer cancel()
	value, revision, err := s.cfg.States.Get(ctx, jobPrefix+id)
	if errors.Is(err, ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read state of %s: %w", id, err)
	}
	r, err := decodeRecord(value)
	return r, revision, err
}

// save writes the state of a job.
func (s *Service) save(ctx context.Context, r *record, last uint64, ttl time.Duration) (uint64, error) {
	value, err := encode(r, r.body)
	if err != nil {
		return 0, err
	}
	ctx, cancel := s.brief(ctx)
	defer cancel()
	revision, err := s.cfg.States.Put(ctx, jobPrefix+r.ID, value, last, ttl)
	if err != nil {
		return 0, fmt.Errorf("write state of %s: %w", r.ID, err)
	}
	return revision, nil
}
