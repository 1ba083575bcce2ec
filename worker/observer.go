package worker

import (
	"errors"
	"log/slog"
	"time"

	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/metrics"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// observer counts and logs what the dispatcher does.
type observer struct {
	m       *metrics.Metrics
	log     *slog.Logger
	create  *metrics.Count
	destroy *metrics.Count
	evict   *metrics.Count
}

func newObserver(m *metrics.Metrics, log *slog.Logger) *observer {
	return &observer{
		m: m, log: log, create: m.Tally.Count(api.StatCreate),
		destroy: m.Tally.Count(api.StatDestroy), evict: m.Tally.Count(api.StatEvict),
	}
}

// Created is part of dispatch.Observer.
func (o *observer) Created(function, origin string, took time.Duration, err error) {
	if err == nil {
		o.create.Add(took)
		o.m.Started(origin, took)
		return
	}
	fault := "host"
	if se := (*sandbox.StartError)(nil); errors.As(err, &se) && se.Lambda {
		fault = "lambda"
	}
	o.m.StartFailed(fault)
	o.log.Warn("start sandbox", slog.String("function", function), slog.String("fault", fault), slog.Any("error", err))
}

// Destroyed is part of dispatch.Observer.
func (o *observer) Destroyed(_ string, reason engine.Reason, took time.Duration) {
	o.destroy.Add(took)
	word := reasonWord(reason)
	if word == "" {
		return
	}
	o.m.Evicted(word)
	if reason == engine.ReasonPressure || reason == engine.ReasonStarved {
		o.evict.Add(took)
	}
}

// reasonWord is the label of ol_evictions_total; "" for the end of the worker.
func reasonWord(r engine.Reason) string {
	switch r {
	case engine.ReasonPressure:
		return "pressure"
	case engine.ReasonExpired:
		return "expired"
	case engine.ReasonRevision:
		return "revision"
	case engine.ReasonUnusable:
		return "unusable"
	case engine.ReasonCancelled:
		return "cancelled"
	case engine.ReasonResize:
		return "resize"
	case engine.ReasonStarved:
		return "starved"
	case engine.ReasonForgotten:
		return "removed"
	}
	return ""
}
