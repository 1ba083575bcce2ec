package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
)

// Engine is the scheduler of one node. See the package documentation.
type Engine struct {
	cfg   Config
	state            // what policies see, and the rest of the world's state
	out   []Action   // of the Step in progress
	timer heap.Heap  // functions by the moment of their Recheck or minimum retry
	back  heap.Heap  // starts that wait out a back-off, by moment
	watch []observer // policies that listen, in fixed order

	reuser   policies.Reuser
	expireAt policies.Time // next Expire
	expireIs bool          // expireAt is known
	waker    policies.Waker
	planAt   policies.Time // next Plan
	planned  policies.Time // last Plan, Never before the first
	bad      error         // first breach of the protocol by the driver
}

type observer = policies.Observer

// New returns an engine with no functions. It fails on a configuration that
// no engine can run with, and says which field is wrong.
func New(cfg Config) (*Engine, error) {
	switch {
	case cfg.Scaler == nil:
		return nil, errors.New("make engine: Scaler is missing")
	case cfg.Evictor == nil:
		return nil, errors.New("make engine: Evictor is missing")
	case cfg.PoolMB < 1:
		return nil, fmt.Errorf("make engine: PoolMB is %d, need at least 1", cfg.PoolMB)
	case cfg.StartSlots < 0 || cfg.QueueLimit < 0 || cfg.StarveMin < 0 || cfg.RetryBase < 0:
		return nil, errors.New("make engine: StartSlots, QueueLimit, StarveMin and RetryBase must not be negative")
	}
	if cfg.RetryBase == 0 {
		cfg.RetryBase = defaultRetryBase
	}
	if cfg.Retries == 0 {
		cfg.Retries = defaultRetries
	}
	e := &Engine{cfg: cfg, planAt: policies.Never}
	e.node.PoolMB, e.node.FreeMB = cfg.PoolMB, cfg.PoolMB
	e.starts.init()
	e.reuser, _ = cfg.Evictor.(policies.Reuser)
	e.waker, _ = cfg.Prewarmer.(policies.Waker)
	e.listen()
	return e, nil
}

const (
	defaultRetryBase = 100 * time.Millisecond
	defaultRetries   = 3
	maxBackoff       = time.Minute // of the starts of min_sandboxes that keep failing
)

// listen collects the policies that observe, each once even if one value
// plays two parts.
func (e *Engine) listen() {
	for _, p := range []any{e.cfg.Scaler, e.cfg.Evictor, e.cfg.Picker, e.cfg.Prewarmer} {
		o, ok := p.(policies.Observer)
		if !ok {
			continue
		}
		known := false
		for _, w := range e.watch {
			known = known || w == o
		}
		if !known {
			e.watch = append(e.watch, o)
		}
	}
}

// Step feeds one event at the given time, appends the actions that the driver
// must perform, in order, to out and returns it. Due timers run first. A time
// before the last one counts as the last one. Not for concurrent use.
func (e *Engine) Step(now policies.Time, ev Event, out []Action) []Action {
	e.now = max(e.now, now)
	e.out = out
	e.runTimers()
	e.handle(&ev)
	e.fit()
	e.pump()
	if e.expire() {
		e.pump() // what is left of a demoted sandbox may be what a start lacked
	}
	out, e.out = e.out, nil
	return out
}

func (e *Engine) handle(ev *Event) {
	switch ev.Kind {
	case EvDefine:
		e.define(ev.Fn, ev.Spec)
	case EvForget:
		e.forget(ev.Fn)
	case EvEstimate:
		if f := e.fn(ev.Fn); f != nil {
			f.ColdNow = ev.Dur
		}
	case EvArrive:
		e.arrive(ev.Fn, ev.Req)
	case EvCancel:
		e.cancel(ev.Req)
	case EvFinished:
		e.finished(ev)
	case EvReturned:
		e.returned(ev.Req, ev.Sandbox)
	case EvReady:
		e.ready(ev.Sandbox, ev.Dur)
	case EvFailed:
		e.failed(ev.Sandbox, ev.Fault)
	case EvDied:
		e.died(ev.Sandbox)
	case EvGone:
		e.gone(ev.Sandbox)
	case EvReshaped:
		e.reshaped(ev.Sandbox, ev.Form, ev.MB)
	case EvResize:
		e.resize(ev.MB)
	case EvTick:
	}
}

// breach notes a driver's error; the event is ignored and Check reports it.
func (e *Engine) breach(format string, args ...any) {
	if e.bad == nil {
		e.bad = fmt.Errorf(format, args...)
	}
}

func (e *Engine) emit(a Action) { e.out = append(e.out, a) }

func (e *Engine) observe(f policies.Fact) {
	for _, w := range e.watch {
		w.Observe(&e.state, f)
	}
}
