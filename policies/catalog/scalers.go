package catalog

import (
	"strconv"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/cidre"
	"github.com/open-lambda/open-lambda/policies/cidreplus"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/knative"
	"github.com/open-lambda/open-lambda/policies/offline"
	"github.com/open-lambda/open-lambda/policies/queuelength"
	"github.com/open-lambda/open-lambda/policies/stats"
)

// scalerPart is a scaler that has a name.
type scalerPart struct {
	Entry
	make func(*settings) (policies.Scaler, error)
}

func findScaler(name string) *scalerPart {
	for _, s := range scalers() {
		if s.Name == name {
			return &s
		}
	}
	return nil
}

func scalers() []scalerPart {
	s := func(name, confidence, source, summary string, makes func(*settings) (policies.Scaler, error), params ...Param) scalerPart {
		return scalerPart{Entry{
			Name: name, Kind: scaler, Confidence: confidence, Source: source, Summary: summary, Params: params,
		}, makes}
	}
	clairvoyant := s("offline", "A", paper+", s. 4", "compares the exact wait with a cold start", newOffline, coldPerMB())
	clairvoyant.Caps = []string{CapOracle}
	return append([]scalerPart{
		s("css", "A", paper+", Alg. 1", "race a start, stop racing when new sandboxes prove useless", newCSS, cssParams("head-age", "on")...),
		s("css-literal", "A", paper+", Alg. 1", "css with td=completed and without the timer", newCSSLiteral, cssParams("completed", "off")...),
		s("bss", "A", paper+", s. 3.2", "always race a start against the busy sandboxes", newBSS),
		s("expected-wait", "A", ours, "start if that is sooner than the busy sandboxes", newExpectedWait, waitParams()...),
		s("coldstart", "A", paper+", s. 2.3", "one start per blocked request, bound to it", newColdstart),
		s("queue-length", "A", paper+", s. 2.4", "bind to the shortest queue of a busy sandbox, at most L long", newQueueLength,
			Param{"L", "number", strconv.Itoa(queuelength.Default), "0 and up, or inf", "requests that may wait behind one busy sandbox; 0 is coldstart"}),
		s("knative-queue", "A", knativeIn, "requests queue, only the autoscaler starts sandboxes", newKnativeQueue),
		clairvoyant,
	}, customScalers()...)
}

func coldPerMB() Param {
	return Param{"cold-per-mb", "duration", "1.7ms", "above 0", "cold start per MB of memory, where neither samples nor an estimate exist"}
}

func cssParams(td, timer string) []Param {
	return []Param{
		{"window", "duration", "15m0s", "above 0", "sliding window of all observations"},
		{"td", "choice", td, "head-age, completed", "T_d while the head of the queue still waits: its age counts, or only completed waits"},
		{"timer", "choice", timer, "on, off", "race again when the head has waited T_p"},
		{"te", "choice", "median", "median, mean, p25, p75", "what of the execution times in the window T_e is"},
		coldPerMB(),
	}
}

func newCSS(s *settings) (policies.Scaler, error) {
	return makeCSS(s, cidre.DefaultCSS())
}

func newCSSLiteral(s *settings) (policies.Scaler, error) {
	cfg := cidre.DefaultCSS()
	cfg.Delay, cfg.Timer = cidre.Completed, false
	return makeCSS(s, cfg)
}

func makeCSS(s *settings, cfg cidre.CSSConfig) (policies.Scaler, error) {
	s.duration("window", &cfg.Window)
	s.positive("cold-per-mb", &cfg.ColdPerMB)
	if s.has("td") {
		cfg.Delay = []cidre.Delay{cidre.HeadAge, cidre.Completed}[s.choice("td", "head-age", "completed")]
	}
	s.toggle("timer", &cfg.Timer)
	cfg.Exec = []cidre.Exec{cidre.ExecMedian, cidre.ExecMean, cidre.ExecP25, cidre.ExecP75}[s.choice("te", "median", "mean", "p25", "p75")]
	return cidre.NewCSS(cfg)
}

func newBSS(*settings) (policies.Scaler, error) { return cidre.BSS{}, nil }

func newColdstart(*settings) (policies.Scaler, error) { return coldstart.Scaler{}, nil }

func newKnativeQueue(*settings) (policies.Scaler, error) { return knative.Queue{}, nil }

func newQueueLength(s *settings) (policies.Scaler, error) {
	limit := queuelength.Default
	if s.given["L"] == "inf" {
		return queuelength.New(queuelength.Unlimited)
	}
	s.read("L", "a whole number from 0, or inf", func(v string) bool {
		n, err := strconv.Atoi(v)
		limit = n
		return err == nil && n >= 0
	})
	if s.err != nil {
		return nil, s.err
	}
	return queuelength.New(limit)
}

func waitParams() []Param {
	return []Param{
		{"theta", "number", "1", "0 and up", "start if the expected wait exceeds theta cold starts; less means more cold starts"},
		{"predict", "choice", "remaining", "remaining, median", "remaining time of a busy sandbox: E[X | X > elapsed] - elapsed, or the median less elapsed"},
		{"timer", "choice", "on", "on, off", "everybody who waits gets a start when the head has waited one cold start"},
		{"cancel", "choice", "on", "on, off", "give up the newest starts while more are on their way than requests wait"},
		{"spare", "number", "1", "0 and up", "with the evictor marginal: start as well if the new sandbox's worth times this exceeds what it displaces; 0 is never"},
		coldPerMB(),
	}
}

func newExpectedWait(s *settings) (policies.Scaler, error) {
	cfg := cidreplus.DefaultScale()
	s.float("theta", &cfg.Theta)
	cfg.Predict = []cidreplus.Predict{cidreplus.Remaining, cidreplus.Median}[s.choice("predict", "remaining", "median")]
	s.toggle("timer", &cfg.Timer)
	s.toggle("cancel", &cfg.Cancel)
	s.float("spare", &cfg.Spare)
	s.positive("cold-per-mb", &cfg.ColdPerMB)
	return cidreplus.NewExpectedWait(cfg)
}

func newOffline(s *settings) (policies.Scaler, error) {
	perMB := stats.DefaultColdPerMB
	s.positive("cold-per-mb", &perMB)
	return offline.NewScaler(s.Oracle, perMB)
}
