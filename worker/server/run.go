package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/metrics"
	"github.com/open-lambda/open-lambda/worker/dispatch"
)

// statusGone is what is counted for a client that left before its answer.
const statusGone = 499

// run answers /run/<name>[/...].
func (s *Server) run(w http.ResponseWriter, r *http.Request, rest string) {
	begun := time.Now()
	id := api.RequestID(r)
	h := w.Header()
	h.Set(api.HeaderRequestID, id)
	h.Set(api.HeaderWorker, s.cfg.Worker)
	name, _, _ := strings.Cut(rest, "/")
	r, cancel, err := limited(r)
	defer cancel()
	var l *Lambda
	if err == nil {
		l, err = s.admit(r, name)
	}
	if err != nil {
		s.refuse(w, r, name, id, nil, err, false)
		return
	}
	x := &exchange{server: s, w: w, in: r, id: id}
	grant, err := x.do(l)
	s.account(l, x, &grant, err, time.Since(begun))
	if err == nil {
		return
	}
	if !x.begun {
		if grant.Sandbox != "" {
			h.Set(api.HeaderStart, grant.Start.String())
		}
		h.Set(api.HeaderTiming, timing(&grant, grant.Exec))
		s.refuse(w, r, name, id, l, err, grant.Sandbox != "")
		return
	}
	if !errors.Is(err, dispatch.ErrClientGone) {
		s.logBroken(r, name, id, err)
	}
	// The answer has begun: cutting the connection tells the client that it
	// is not complete.
	panic(http.ErrAbortHandler)
}

// do reads the body and runs the exchange.
func (x *exchange) do(l *Lambda) (dispatch.Grant, error) {
	if err := x.readBody(x.server.cfg.MaxBody); err != nil {
		return dispatch.Grant{}, err
	}
	if len(l.Config.Calls) > 0 {
		x.calls = x.server.cfg.Calls
		defer x.endCalls()
	}
	return x.server.cfg.Dispatcher.Do(x.in.Context(), l.Func, x)
}

// admit finds the lambda and checks that it takes the method.
func (s *Server) admit(r *http.Request, name string) (*Lambda, error) {
	if err := lambda.CheckName(name); err != nil {
		return nil, err
	}
	l, err := s.cfg.Lambdas.Lookup(r.Context(), name, r.Header.Get(api.HeaderStamp))
	if err != nil {
		return nil, err
	}
	// The methods are about clients: what another trigger made is no client's.
	if !l.Config.Allows(r.Method) && r.Header.Get(api.HeaderTrigger) == "" {
		return nil, &methodError{sent: r.Method, allowed: l.Config.Methods()}
	}
	return l, nil
}

// methodError is a method that the lambda's triggers do not name.
type methodError struct {
	sent    string
	allowed []string
}

// Error has OpenLambda's words.
func (e *methodError) Error() string {
	return fmt.Sprintf("HTTP method not allowed. Sent: %s, Allowed: %v", e.sent, e.allowed)
}

// account counts one invocation of a lambda that exists.
func (s *Server) account(l *Lambda, x *exchange, g *dispatch.Grant, err error, took time.Duration) {
	outcome, code := metrics.NoStart, x.status
	if g.Sandbox != "" {
		outcome = metrics.Outcome(g.Start)
	}
	switch {
	case errors.Is(err, dispatch.ErrClientGone) && x.tooLarge == nil:
		code = statusGone
	case err != nil && !x.begun:
		code = problem(err).Status
	}
	l.Metrics.Answered(outcome, code, g.Queue, g.Exec)
	c := &s.counts
	c.web.Add(took)
	if err != nil {
		c.errors.Add(took)
	}
	if outcome != metrics.NoStart {
		c.queue.Add(g.Queue)
		c.exec.Add(g.Exec)
		c.kinds[outcome].Add(g.Queue)
	}
}

// refuse answers with a platform error. A request that no sandbox has seen may
// be sent to another worker if this one had no room for it.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, name, id string, l *Lambda, err error, started bool) {
	p := problem(err)
	p.RequestID = id
	if !started && (p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests) {
		w.Header().Set(api.HeaderNotStarted, "true")
	}
	if l != nil {
		p.Function = name
	}
	var me *methodError
	if errors.As(err, &me) {
		w.Header().Set("Allow", strings.Join(me.allowed, ", "))
	}
	if p.Status >= http.StatusInternalServerError && r.Context().Err() == nil {
		s.logBroken(r, name, id, err)
	}
	p.Write(w, r)
}

// isCanceled tells whether the client of a look-up has left.
func isCanceled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, dispatch.ErrClientGone)
}
