package dispatch

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/pause"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Grant says how a request came to its sandbox.
type Grant struct {
	Start   policies.Kind
	Blocked bool          // a delayed one whose own start lacked memory
	Queue   time.Duration // from arrival until it had the sandbox
	Init    time.Duration // what making the sandbox took; 0 unless Start is cold
	Sandbox string        // id
	Began   time.Time     // when it had the sandbox
	Exec    time.Duration // from Began to the end of the answer; set when Do returns
}

// Exchange is one request and what becomes of its answer.
type Exchange interface {
	// Request returns what to send. It is called again, with another grant,
	// if a sandbox was found dead before it can have seen anything; false
	// means that it cannot be sent again.
	Request(ctx context.Context, g *Grant) (*http.Request, bool)
	// Answer passes the answer on. It need not close the body. A failure to
	// write is wrapped in ErrClientGone, any other is the sandbox' fault.
	Answer(resp *http.Response, g *Grant) error
	// Fault is the failure to read the request from its client, if that is
	// why a round trip failed: then the sandbox is not to blame.
	Fault() error
}

// attempts is how many sandboxes a request is tried on if they are found dead.
const attempts = 4

// Do runs one request of f. It returns when the answer was passed on, or with
// the error that the client shall be told: *RejectError, *DeadError,
// *UnreachedError, *TimeoutError, ErrClosing, ErrQueueTimeout or ErrClientGone.
func (d *Dispatcher) Do(ctx context.Context, f *Func, x Exchange) (Grant, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	arrived := time.Now()
	c, err := d.arrive(f, cancel)
	if err != nil {
		return Grant{}, err
	}
	for try := 1; ; try++ {
		gr, err := d.await(ctx, c, arrived)
		if err != nil {
			return Grant{Queue: time.Since(arrived)}, err
		}
		e := exchange{d: d, c: c, cut: cancel, box: gr.box, x: x, last: try == attempts}
		e.describe(gr, arrived)
		err = e.run(ctx)
		if !errors.Is(err, errReturned) {
			return e.grant, err
		}
	}
}

// errReturned: the request waits again.
var errReturned = errors.New("returned")

func (d *Dispatcher) arrive(f *Func, cancel context.CancelCauseFunc) (*call, error) {
	d.mu.Lock()
	if d.closing {
		d.mu.Unlock()
		return nil, ErrClosing
	}
	if f.current == nil {
		d.mu.Unlock()
		return nil, ErrUnknown
	}
	c := d.calls.add(f)
	c.cancel = cancel
	d.feed(engine.Event{Kind: engine.EvArrive, Fn: f.id, Req: c.id})
	d.leave()
	return c, nil
}

// await returns the sandbox that the engine grants. After an error the call
// is over.
func (d *Dispatcher) await(ctx context.Context, c *call, arrived time.Time) (grant, error) {
	select {
	case g := <-c.grant:
		return d.granted(c, g)
	default:
	}
	var late <-chan time.Time
	if d.cfg.Queue > 0 {
		t := time.NewTimer(d.cfg.Queue - time.Since(arrived))
		defer t.Stop()
		late = t.C
	}
	select {
	case g := <-c.grant:
		return d.granted(c, g)
	case <-ctx.Done():
		return d.abandon(c, clientCause(ctx))
	case <-late:
		return d.abandon(c, ErrQueueTimeout)
	}
}

func (d *Dispatcher) granted(c *call, g grant) (grant, error) {
	if g.err == nil {
		return g, nil
	}
	d.mu.Lock()
	d.drop(c)
	d.leave()
	return grant{}, g.err
}

// abandon gives up waiting, unless the engine has decided meanwhile.
func (d *Dispatcher) abandon(c *call, why error) (grant, error) {
	d.mu.Lock()
	select {
	case g := <-c.grant:
		d.mu.Unlock()
		return d.granted(c, g)
	default:
	}
	d.feed(engine.Event{Kind: engine.EvCancel, Fn: c.fn.id, Req: c.id})
	d.drop(c)
	d.leave()
	return grant{}, why
}

// drop ends a call. mu is held.
func (d *Dispatcher) drop(c *call) {
	d.calls.drop(c)
	if d.closing && d.calls.live == 0 {
		close(d.drained)
	}
}

// clientCause tells why a request's context ended.
func clientCause(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, ErrClosing) {
		return ErrClosing
	}
	return errors.Join(ErrClientGone, cause)
}

// exchange is one request on one sandbox.
type exchange struct {
	d     *Dispatcher
	c     *call
	cut   context.CancelCauseFunc // not call.cancel: a late timer must not meet the call's next user
	box   *box
	x     Exchange
	grant Grant
	last  bool // no further sandbox is tried
	noted bool // readers of events were told that it runs
}

func (e *exchange) describe(g grant, arrived time.Time) {
	now := time.Now()
	e.grant = Grant{
		Start: g.start, Blocked: g.blocked, Queue: now.Sub(arrived), Sandbox: e.box.spec.ID, Began: now,
	}
	if g.start == policies.Cold {
		e.grant.Init = e.box.info.Init
	}
}

// run sends the request and reports the end to the engine, whatever happens.
func (e *exchange) run(ctx context.Context) error {
	if ctx.Err() != nil {
		e.finish(true)
		return clientCause(ctx)
	}
	if e.box.exited() {
		return e.unsent(ctx, errors.New("it died while it was idle"))
	}
	if err := e.box.awake(); err != nil {
		return e.unsent(ctx, err)
	}
	e.noted = e.box.noteRun(&e.grant)
	limit := e.box.rev.Runtime
	if limit > 0 {
		t := time.AfterFunc(limit, func() { e.cut(errLimit) })
		defer t.Stop()
	}
	err := e.send(ctx)
	switch {
	case err == nil:
		e.finish(true)
		return nil
	case errors.Is(err, sandbox.ErrNotSent) && ctx.Err() == nil:
		return e.unsent(ctx, err)
	}
	return e.broken(ctx, err)
}

// errLimit is the cause of a context that ended by the lambda's time limit.
var errLimit = errors.New("time limit")

func (e *exchange) send(ctx context.Context) error {
	req, ok := e.x.Request(ctx, &e.grant)
	if !ok {
		return errors.New("the request's body was read and cannot be sent again")
	}
	resp, err := e.box.sb.RoundTrip(req)
	if err == nil {
		err = errors.Join(e.x.Answer(resp, &e.grant), resp.Body.Close())
	}
	if fault := e.x.Fault(); err != nil && fault != nil {
		return errors.Join(ErrClientGone, fault)
	}
	return err
}

// broken sorts a round trip that failed after it may have been seen.
func (e *exchange) broken(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errLimit):
		e.finish(false)
		return &TimeoutError{Limit: e.box.rev.Runtime}
	case errors.Is(cause, ErrClosing):
		e.finish(false)
		return ErrClosing
	case cause != nil || errors.Is(err, ErrClientGone):
		e.finish(e.free())
		return errors.Join(ErrClientGone, err)
	}
	text := e.box.explain(ctx)
	e.finish(false)
	return &DeadError{Text: text, Err: err}
}

// unsent hands the request back to the engine: its sandbox was dead before it
// saw anything.
func (e *exchange) unsent(ctx context.Context, err error) error {
	if e.last {
		text := e.box.explain(ctx)
		e.finish(false)
		if text == "" {
			return &UnreachedError{err}
		}
		return &DeadError{Text: text, Err: err}
	}
	e.noteDone()
	d := e.d
	d.mu.Lock()
	d.feed(engine.Event{Kind: engine.EvReturned, Fn: e.c.fn.id, Req: e.c.id, Sandbox: e.box.id})
	e.box.running.Add(-1)
	d.leave()
	return errReturned
}

// finish reports the end of the request. The box' count falls after the
// engine's step: if that gives it the next request at once, nobody ever sees
// it idle.
func (e *exchange) finish(usable bool) {
	d, b := e.d, e.box
	e.grant.Exec = time.Since(e.grant.Began)
	e.noteDone()
	d.mu.Lock()
	d.feed(engine.Event{
		Kind: engine.EvFinished, Fn: e.c.fn.id, Req: e.c.id, Sandbox: b.id, Dur: e.grant.Exec, OK: usable,
	})
	d.drop(e.c)
	b.running.Add(-1)
	d.leave()
	if usable {
		d.rest(b)
	}
}

// noteDone ends what noteRun began.
func (e *exchange) noteDone() {
	if e.noted {
		e.box.note(api.EventDone)
	}
}

// free asks the runtime whether it can serve again after its client left.
func (e *exchange) free() bool {
	ctx, cancel := context.WithTimeout(context.Background(), e.d.cfg.Ping)
	defer cancel()
	for {
		ok, again := ping(ctx, e.box.sb)
		if ok || !again || e.box.exited() {
			return ok
		}
		if !pause.For(ctx, 20*time.Millisecond) {
			return false
		}
	}
}

// patience is how long a death may take to be noticed after the connection
// broke: a busy machine tears a large process down slowly.
const patience = 5 * time.Second

// explain waits for the mechanism to notice a death and tells its cause; "" if
// the sandbox lives, or nobody waits for the answer any more.
func (b *box) explain(ctx context.Context) string {
	if b.info.Exited == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-b.info.Exited:
		return b.sb.Info().ExitText
	case <-ctx.Done():
		return ""
	}
}
