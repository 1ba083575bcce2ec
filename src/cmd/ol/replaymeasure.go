package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/replay"
)

// replayMachine is what was measured of a target before a replay.
type replayMachine struct {
	ColdPerSec float64       `json:"cold_per_sec"`  // first calls of lambdas that cost nothing, all at once
	StartTime  time.Duration `json:"start_time_ns"` // of one at a time: median wait for a sandbox
	Busy       float64       `json:"busy"`          // share of this machine's processors in use meanwhile, 0 to 1
}

const (
	probesAtOnce = 24
	probesAlone  = 12
	probeGap     = 250 * time.Millisecond
	probeMB      = 50
)

// measure calls lambdas that cost nothing to initialise, each for the first
// time: some one after the other, some all at once.
func (t *replayTarget) measure(ctx context.Context, cost lambdaCost) (replayMachine, error) {
	cost.hold = 0
	watch := bench.WatchUsage(ctx)
	alone, err := t.probe(ctx, cost, "replay-alone-%02d", probesAlone, probeGap)
	busy := watch().CPUShare
	if err != nil {
		return replayMachine{}, err
	}
	atOnce, err := t.probe(ctx, cost, "replay-once-%02d", probesAtOnce, 0)
	if err != nil {
		return replayMachine{}, err
	}
	var waits []time.Duration
	var last time.Duration
	for i := range alone {
		waits = append(waits, alone[i].Queue)
	}
	for i := range atOnce {
		last = max(last, atOnce[i].Latency)
	}
	return replayMachine{ColdPerSec: probesAtOnce / last.Seconds(), StartTime: replay.Describe(waits).P50, Busy: busy}, nil
}

// probe calls n new lambdas, one every gap.
func (t *replayTarget) probe(ctx context.Context, cost lambdaCost, names string, n int, gap time.Duration) (_ []replay.Sample, err error) {
	var w replay.Workload
	for i := range n {
		w.Lambdas = append(w.Lambdas, replay.Lambda{Name: fmt.Sprintf(names, i), MemMB: probeMB})
		w.Requests = append(w.Requests, replay.Request{Lambda: i, At: time.Duration(i) * gap})
	}
	defer func() { err = errors.Join(err, t.remove(context.WithoutCancel(ctx), w)) }()
	if err := t.install(ctx, w, cost); err != nil {
		return nil, err
	}
	samples, err := (&replay.Replayer{URL: t.url, Others: t.others, Client: t.client(answerLimit, 0), Header: t.header}).Run(ctx, w)
	if err != nil {
		return nil, replayFailure(err)
	}
	for i := range samples {
		if s := &samples[i]; s.Err != nil && s.Status == 0 {
			return nil, t.failure("measure cold starts", s.Err)
		} else if s.Err != nil {
			return nil, fail(codeFailed, "measure cold starts", s.Err, "see what this machine lacks: ol doctor")
		}
	}
	return samples, nil
}
