package server

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
	"github.com/open-lambda/open-lambda/src/lambda/unpack"
	"github.com/open-lambda/open-lambda/worker/code"
	"github.com/open-lambda/open-lambda/worker/dispatch"
	"github.com/open-lambda/open-lambda/worker/packages"
	"github.com/open-lambda/open-lambda/worker/registry"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Problem says what a client is told about an error of the worker's parts.
func Problem(err error) *api.Problem { return problem(err) }

// problem says what the client is told about an error.
func problem(err error) *api.Problem {
	for _, p := range []func(error) *api.Problem{requestProblem, rejectProblem, runProblem} {
		if p := p(err); p != nil {
			return p
		}
	}
	if isCanceled(err) { // nobody reads it
		return api.NewProblem(statusGone, "client-gone", "the client left")
	}
	return retry(api.NewProblem(http.StatusServiceUnavailable, "worker-failed", err.Error()), time.Second)
}

// requestProblem is for requests that cannot be run at all.
func requestProblem(err error) *api.Problem {
	var name *lambda.NameError
	var method *methodError
	var large *http.MaxBytesError
	var packed *archiveSizeError
	var broken *code.BrokenError
	var behind *code.BehindError
	var refused *archive.RefusedError
	var content *unpack.ContentError
	var late *deadlineError
	var bound *lambda.BoundError
	var pkg *packages.InstallError
	switch {
	case errors.As(err, &pkg):
		return packageProblem(pkg)
	case errors.Is(err, errDeadline):
		return api.NewProblem(http.StatusGatewayTimeout, "deadline", errDeadline.Error())
	case errors.As(err, &late):
		return api.NewProblem(http.StatusBadRequest, "bad-timeout", late.Error())
	case errors.As(err, &name):
		return api.NewProblem(http.StatusBadRequest, "bad-name", name.Error())
	case errors.As(err, &method):
		return api.NewProblem(http.StatusMethodNotAllowed, "method-not-allowed", method.Error())
	case errors.As(err, &large):
		return tooLarge(large.Limit)
	case errors.As(err, &packed):
		return api.NewProblem(http.StatusRequestEntityTooLarge, "archive-too-large", packed.Error())
	case errors.Is(err, registry.ErrNotFound), errors.Is(err, dispatch.ErrUnknown):
		return api.NewProblem(http.StatusNotFound, "unknown-lambda", "no such lambda: \"ol list\" shows those that exist, \"ol admin install DIR\" adds one")
	case errors.As(err, &broken):
		return api.NewProblem(http.StatusInternalServerError, "broken-lambda", broken.Error())
	case errors.As(err, &bound):
		return api.NewProblem(http.StatusBadRequest, "limit-too-high", bound.Error())
	case errors.As(err, &behind): // another worker may have it
		return retry(api.NewProblem(http.StatusServiceUnavailable, "code-behind", behind.Error()), time.Second)
	case errors.As(err, &refused):
		return api.NewProblem(http.StatusBadRequest, "bad-archive", refused.Error())
	case errors.As(err, &content):
		return api.NewProblem(http.StatusBadRequest, "bad-lambda", content.Error())
	}
	return nil
}

// packageProblem is for lambdas whose packages cannot be had. It is nobody's
// request that is wrong, so the status is of the 500s.
func packageProblem(err *packages.InstallError) *api.Problem {
	p := api.NewProblem(http.StatusInternalServerError, err.Word, err.Error())
	if err.Temporary {
		p = retry(api.NewProblem(http.StatusServiceUnavailable, err.Word, err.Error()), 5*time.Second)
	}
	p.Output = err.Output
	return p
}

// rejectProblem is for requests that the engine refused.
func rejectProblem(err error) *api.Problem {
	var rej *dispatch.RejectError
	if !errors.As(err, &rej) {
		return nil
	}
	switch rej.Reason {
	case engine.ReasonQueueFull:
		return retry(api.NewProblem(http.StatusTooManyRequests, "queue-full", rej.Error()), time.Second)
	case engine.ReasonTooLarge:
		return api.NewProblem(http.StatusInternalServerError, "too-large", rej.Error()+": lower limits.mem_mb of the lambda or raise mem_pool_mb of the worker")
	case engine.ReasonForgotten:
		return api.NewProblem(http.StatusNotFound, "unknown-lambda", rej.Error())
	case engine.ReasonLambda:
		return withOutput(api.NewProblem(http.StatusBadGateway, "start-failed", rej.Error()), rej.Start)
	}
	return withOutput(retry(api.NewProblem(http.StatusServiceUnavailable, "no-sandbox", rej.Error()), time.Second), rej.Start)
}

// runProblem is for requests that waited or ran.
func runProblem(err error) *api.Problem {
	var dead *dispatch.DeadError
	var late *dispatch.TimeoutError
	var unreached *dispatch.UnreachedError
	switch {
	case errors.Is(err, dispatch.ErrClosing):
		return closing()
	case errors.Is(err, dispatch.ErrQueueTimeout):
		return retry(api.NewProblem(http.StatusServiceUnavailable, "no-capacity", "no sandbox came free in time (queue_timeout_ms)"), time.Second)
	case errors.As(err, &unreached):
		return retry(api.NewProblem(http.StatusServiceUnavailable, "no-sandbox", unreached.Error()), time.Second)
	case errors.As(err, &late):
		return api.NewProblem(http.StatusGatewayTimeout, "runtime-limit", late.Error())
	case errors.As(err, &dead):
		return api.NewProblem(http.StatusBadGateway, deadReason(dead.Text), dead.Error())
	}
	return nil
}

// deadReason is the word for programs.
func deadReason(text string) string {
	switch {
	case text == "":
		return "bad-answer"
	case text == "out of memory":
		return "out-of-memory"
	}
	return "sandbox-died"
}

func closing() *api.Problem {
	return retry(api.NewProblem(http.StatusServiceUnavailable, "shutting-down", dispatch.ErrClosing.Error()), 5*time.Second)
}

func tooLarge(limit int64) *api.Problem {
	p := api.NewProblem(http.StatusRequestEntityTooLarge, "body-too-large", "")
	p.Detail = "the body has more than " + megabytes(limit) + " (max_body_mb)"
	return p
}

func retry(p *api.Problem, after time.Duration) *api.Problem {
	p.RetryAfter = after
	return p
}

func withOutput(p *api.Problem, start *sandbox.StartError) *api.Problem {
	if start != nil {
		p.Output = start.Output
	}
	return p
}

func (s *Server) logBroken(r *http.Request, name, id string, err error) {
	s.cfg.Logger.LogAttrs(r.Context(), slog.LevelWarn, "invocation failed",
		slog.String("function", name), slog.String("request_id", id), slog.Any("error", err))
}
