package code

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
	"github.com/open-lambda/open-lambda/worker/fault"
	"github.com/open-lambda/open-lambda/worker/registry"
)

// Source is where code comes from: *registry.Registry, or that of a cluster.
type Source interface {
	// Version tells what there is; its stamp is at least the one given, or
	// there is an error. A source without stamps returns "".
	Version(ctx context.Context, name, least string) (version, stamp string, err error)
	// Fetch writes what there is, at least what Version has told last.
	Fetch(ctx context.Context, name string, w io.Writer) error
}

// Config is what a Cache needs.
type Config struct {
	Source Source
	Dir    string         // worker_dir/code; emptied by New
	Fresh  time.Duration  // how long a version is used without asking
	Limits archive.Limits // of what is extracted
	Logger *slog.Logger
	Fault  fault.Injector // for tests

	// Pulled, if set, is told about each pull of new code that succeeded.
	Pulled func(took time.Duration)
	// Gone, if set, is told about the version of a lambda that disappeared
	// from the registry, before the cache releases it.
	Gone func(v *Version)
}

// BrokenError is a lambda that is in the registry and cannot be used.
type BrokenError struct {
	Name string
	Err  error
}

// Error names the lambda and the reason.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("lambda %s cannot be used: %v", e.Name, e.Err)
}

// Unwrap returns the reason.
func (e *BrokenError) Unwrap() error { return e.Err }

// Cache holds the current version of each lambda that was asked for.
type Cache struct {
	cfg    Config
	life   context.Context // pulls run under it, not under a caller's
	cancel context.CancelFunc
	wg     sync.WaitGroup
	slots  chan struct{} // pulls at the same time

	mu      sync.Mutex
	entries map[string]*entry
	unknown ring
	seq     uint64
	closed  bool
}

// entry is one lambda. Guarded by Cache.mu.
type entry struct {
	current *Version // nil: none yet, or broken
	err     error    // of the last look, if there is no current version
	remote  string   // the registry's version of current or err
	stamp   string   // of current or err: how new they are; see api.HeaderStamp
	checked time.Time
	least   string        // the highest stamp that callers asked for
	tried   string        // what the last look asked for
	fault   error         // why the last look failed; nil: it did not
	flight  chan struct{} // closed when the look in progress ends; nil: none
	stale   bool          // the look in progress began before the last change
}

// pulls is how many lambdas are looked up or pulled at the same time.
const pulls = 8

// New makes a cache in an empty directory.
func New(cfg Config) (*Cache, error) {
	if err := os.RemoveAll(cfg.Dir); err != nil {
		return nil, fmt.Errorf("empty code directory: %w", err)
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make code directory: %w", err)
	}
	c := &Cache{cfg: cfg, slots: make(chan struct{}, pulls), entries: map[string]*entry{}}
	c.life, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// Close stops pulls and waits for them. Versions in use keep their directory.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.wg.Wait()
}

// BehindError is a lambda of which somebody knows newer code than the
// registry would give.
type BehindError struct {
	Name string
	Err  error // why
}

// Error names the lambda and the reason.
func (e *BehindError) Error() string {
	return fmt.Sprintf("newer code of lambda %s cannot be fetched: %v", e.Name, e.Err)
}

// Unwrap returns the reason.
func (e *BehindError) Unwrap() error { return e.Err }

// Get returns the current version: registry.ErrNotFound, a *lambda.NameError
// or a *BrokenError if there is none. A version that is older than the stamp
// least is none: then the registry is asked first, and a *BehindError is
// returned if it has nothing as new. "" takes what there is.
func (c *Cache) Get(ctx context.Context, name, least string) (*Version, error) {
	if err := lambda.CheckName(name); err != nil {
		return nil, err
	}
	begun := time.Now()
	for {
		v, wait, err := c.look(question{name, least, begun}, time.Now())
		if wait == nil {
			return v, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, fmt.Errorf("pull lambda %s: %w", name, context.Cause(ctx))
		}
	}
}

// Changed says that the registry has something new. It is pulled ahead, so
// that the first request need not wait for it; what a look in progress finds
// counts as old.
func (c *Cache) Changed(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || lambda.CheckName(name) != nil {
		return
	}
	c.unknown.forget(name)
	e := c.entries[name]
	if e == nil {
		e = c.enter(name)
	}
	e.checked, e.stale = time.Time{}, e.flight != nil
	c.launch(name, e)
}

// question is what a caller wants to know.
type question struct {
	name, least string
	begun       time.Time // what was asked since then counts as fresh even if nothing is to be cached
}

// look answers from memory, or returns the channel to wait for.
func (c *Cache) look(q question, now time.Time) (*Version, <-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, errors.New("the code cache is closed")
	}
	window := max(c.cfg.Fresh, now.Sub(q.begun))
	e := c.entries[q.name]
	if e == nil {
		if c.unknown.fresh(q.name, q.least, now, window) {
			return nil, nil, registry.ErrNotFound
		}
		e = c.enter(q.name)
	}
	e.least = max(e.least, q.least)
	age := now.Sub(e.checked)
	switch {
	case e.checked.IsZero() || age > window:
	case e.stamp >= q.least:
		if age > c.cfg.Fresh/2 && e.checked.Before(q.begun) {
			c.launch(q.name, e) // busy lambdas never wait for the registry
		}
		return e.current, nil, e.err
	case e.fault != nil && e.tried >= q.least && !e.checked.Before(q.begun):
		return nil, nil, &BehindError{q.name, e.fault}
	}
	return nil, c.launch(q.name, e), nil
}

// enter makes an entry, for which nothing counts that is older than the news
// that there was none. mu is held.
func (c *Cache) enter(name string) *entry {
	e := &entry{least: c.unknown.when[name].stamp}
	c.entries[name] = e
	return e
}

// launch looks at the registry in the background, once at a time for each
// lambda. mu is held.
func (c *Cache) launch(name string, e *entry) <-chan struct{} {
	if e.flight == nil {
		flight := make(chan struct{})
		e.flight = flight
		c.wg.Go(func() {
			c.refresh(name, e)
			close(flight)
		})
	}
	return e.flight
}

// refresh asks the registry and takes over what changed.
func (c *Cache) refresh(name string, e *entry) {
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	// Noted before the question: what changes afterwards is asked for again
	// in time.
	asked := time.Now()
	c.mu.Lock()
	least, was, old := max(e.least, e.stamp), e.remote, e.current
	c.mu.Unlock()
	l := look{asked: asked, least: least}
	l.remote, l.stamp, l.err = c.cfg.Source.Version(c.life, name, least)
	l.same = l.err == nil && l.remote == was
	if l.err == nil && !l.same {
		l.version, l.err = c.pull(name, old)
	}
	c.settle(name, e, l)
}

// look is the result of one question to the registry.
type look struct {
	asked   time.Time
	least   string // what was asked for
	remote  string
	stamp   string
	same    bool
	version *Version
	err     error
}

func (c *Cache) settle(name string, e *entry, l look) {
	c.mu.Lock()
	old := e.current
	var broken *BrokenError
	switch {
	case errors.Is(l.err, registry.ErrNotFound):
		delete(c.entries, name)
		if !e.stale { // it may have come since
			c.unknown.add(name, absence{at: l.asked, stamp: max(l.stamp, l.least)})
		}
		e.current = nil
	case l.err == nil && l.same:
		old = nil
	case l.err == nil:
		e.current, e.err, e.remote = l.version, nil, l.remote
	case errors.As(l.err, &broken):
		e.current, e.err, e.remote = nil, l.err, l.remote
	default: // the registry is out of reach: what we have stays in use
		c.cfg.Logger.Warn("ask registry", slog.String("function", name), slog.Any("error", l.err))
		old = nil
		if e.current == nil {
			e.err, e.remote = l.err, ""
		}
	}
	if e.current == old {
		old = nil
	}
	e.note(l, broken != nil)
	gone := old != nil && e.current == nil && errors.Is(l.err, registry.ErrNotFound)
	c.mu.Unlock()
	if gone && c.cfg.Gone != nil {
		c.cfg.Gone(old)
	}
	if old != nil {
		old.Release()
	}
	c.revisit()
}

// note notes what a look says about how new the entry is. mu is held.
func (e *entry) note(l look, broken bool) {
	e.checked, e.flight, e.tried, e.fault = l.asked, nil, l.least, l.err
	if l.err == nil || broken {
		e.stamp, e.fault = max(l.stamp, l.least), nil
	}
	if e.stale {
		e.checked, e.stale = time.Time{}, false
	}
}
