package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/replay"
)

// answerLimit is how long the demo waits for one answer.
const answerLimit = 60 * time.Second

// measureColdRate calls lambdas that cost nothing to initialise, each for the
// first time, as many at once as there are start slots.
func (p demoPlan) measureColdRate(ctx context.Context, s streams, dir string) (_ float64, err error) {
	const lambdas = 24
	d, err := startTempWorker(ctx, s, filepath.Join(dir, "probe"), "")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	var w replay.Workload
	for i := range lambdas {
		l := replay.Lambda{Name: fmt.Sprintf("probe%02d", i), MemMB: 50}
		packed, err := lambdaCost{builtin: "init"}.pack(l)
		if err != nil {
			return 0, err
		}
		if err := d.install(ctx, l.Name, packed); err != nil {
			return 0, err
		}
		w.Lambdas = append(w.Lambdas, l)
		w.Requests = append(w.Requests, replay.Request{Lambda: i})
	}
	begin := time.Now()
	samples, err := (&replay.Replayer{URL: d.node.url(""), Client: replay.NewClient(answerLimit, 0)}).Run(ctx, w)
	if err != nil {
		return 0, err
	}
	elapsed := time.Since(begin)
	for _, sample := range samples {
		if sample.Err != nil {
			return 0, fail(codeFailed, "measure cold starts", sample.Err, "see what this machine lacks: ol doctor")
		}
	}
	return lambdas / elapsed.Seconds(), nil
}

// replay runs the workload under one policy on a worker of its own.
func (p demoPlan) replay(ctx context.Context, s streams, dir, name string) (_ demoResult, err error) {
	result := demoResult{Policy: name}
	if result.Predicted, err = p.predict(ctx, name); err != nil {
		return result, err
	}
	policy := demoPolicy(name, p.stretch)
	d, err := startTempWorker(ctx, s, dir, fmt.Sprintf(
		"policy.preset=%s,policy.ttl_sec=%d,policy.window_sec=%d,mem_pool_mb=%d",
		policy.Preset, policy.TTLSec, policy.WindowSec, p.poolMB))
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	for _, l := range p.workload.Lambdas {
		packed, err := packDemoLambda(l)
		if err != nil {
			return result, err
		}
		if err := d.install(ctx, l.Name, packed); err != nil {
			return result, err
		}
	}
	begin := time.Now()
	samples, err := p.send(ctx, s, d, name)
	if err != nil {
		return result, err
	}
	result.Seconds = time.Since(begin).Seconds()
	result.Summary = replay.Summarise(samples)
	var stats api.Stats
	if err := d.node.getJSON(ctx, api.PathStats, &stats); err != nil {
		return result, err
	}
	result.Evictions = int(stats[api.StatEvict+".cnt"])
	result.PeakMB = int(stats[api.StatPeakMB])
	return result, nil
}

// send replays the workload and shows how far it is.
func (p demoPlan) send(ctx context.Context, s streams, d *tempWorker, name string) ([]replay.Sample, error) {
	s.say("replaying under %s", name)
	r := &replay.Replayer{URL: d.node.url(""), Client: replay.NewClient(answerLimit, 0)}
	if s.tty {
		r.Progress = func(now replay.Progress) {
			fmt.Fprintf(s.err, "\r%-10s %3.0f of %.0f s  %5d sent  %4d in flight  %d errors ",
				name, now.Elapsed.Seconds(), p.workload.Span().Seconds(), now.Sent, now.InFlight, now.Errors)
		}
		defer s.say("")
	}
	return r.Run(ctx, p.workload)
}
