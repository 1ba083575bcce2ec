package route

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/open-lambda/open-lambda/boss/fleet"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// statusGone is the status for a client that left before its answer.
const statusGone = 499

// refuse answers with a platform error.
func (r *Router) refuse(w http.ResponseWriter, in *http.Request, err error) {
	c := callOf(in.Context())
	p := problem(err)
	c.code = p.Status
	p.RequestID, p.Function = c.id, c.name
	w.Header().Set(api.HeaderRequestID, c.id)
	if c.worker != "" {
		w.Header().Set(api.HeaderWorker, c.worker)
	}
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set(api.HeaderNotStarted, "true")
	}
	if p.Status >= http.StatusInternalServerError {
		r.cfg.Logger.LogAttrs(in.Context(), slog.LevelWarn, "invocation failed", slog.String("function", c.name),
			slog.String("request_id", c.id), slog.String("worker", c.worker), slog.Any("error", err))
	}
	p.Write(w, in)
}

// problem says what the client is told about an error.
func problem(err error) *api.Problem {
	if p := clientProblem(err); p != nil {
		return p
	}
	var lost *LostError
	switch {
	case errors.Is(err, ErrDeadline): // and no other: that of a connect attempt is the worker's fault
		return api.NewProblem(http.StatusGatewayTimeout, "deadline", "no answer within the time that the invocation may take")
	case errors.Is(err, context.Canceled):
		return api.NewProblem(statusGone, "client-gone", "the client left")
	case errors.As(err, &lost):
		return api.NewProblem(http.StatusBadGateway, "worker-lost", lost.Error()+"; it may have run, so it was not sent to another one")
	case errors.Is(err, fleet.ErrNoWorker):
		return unavailable("no-worker", "no worker can take the request now: \"ol nodes list\" shows them")
	}
	return unavailable("worker-unreachable", err.Error())
}

// clientProblem is for requests that are wrong in themselves.
func clientProblem(err error) *api.Problem {
	var name *lambda.NameError
	var late *timeoutError
	var large *http.MaxBytesError
	var client *clientError
	switch {
	case errors.As(err, &name):
		return api.NewProblem(http.StatusBadRequest, "bad-name", name.Error())
	case errors.As(err, &late):
		return api.NewProblem(http.StatusBadRequest, "bad-timeout", late.Error())
	case errors.Is(err, errUnknown):
		return api.NewProblem(http.StatusNotFound, "unknown-lambda", "no such lambda: \"ol list --boss URL\" shows those that exist")
	case errors.As(err, &large):
		return api.NewProblem(http.StatusRequestEntityTooLarge, "body-too-large",
			"the body has more than "+strconv.FormatInt(large.Limit>>20, 10)+" MB")
	case errors.As(err, &client):
		return api.NewProblem(http.StatusBadRequest, "bad-body", client.Error())
	}
	return nil
}

func unavailable(reason, detail string) *api.Problem {
	p := api.NewProblem(http.StatusServiceUnavailable, reason, detail)
	p.RetryAfter = time.Second
	return p
}
