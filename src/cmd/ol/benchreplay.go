package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/replay"
)

// The load of the replayer's bar.
const (
	replayedRate   = 1000 // requests a second
	replayedLength = 20 * time.Second
)

// replays checks that the replayer sends what it is meant to send, to an echo
// lambda in real sandboxes.
func (b *bencher) replays(ctx context.Context) (err error) {
	w, err := b.worker(ctx, "replay", "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	target, err := workerTarget(w.node)
	if err != nil {
		return err
	}
	workload := replay.Workload{Lambdas: []replay.Lambda{{Name: "replay-echo", MemMB: 50}}}
	gap := time.Second / replayedRate
	for at := time.Duration(0); at < replayedLength; at += gap {
		workload.Requests = append(workload.Requests, replay.Request{At: at})
	}
	if err := target.install(ctx, workload, lambdaCost{builtin: "echo"}); err != nil {
		return err
	}
	r := &replay.Replayer{URL: target.url, Client: target.client(answerLimit, 0), Header: target.header}
	samples, err := r.Run(ctx, workload)
	if err != nil {
		return err
	}
	for i := range samples {
		if samples[i].Err != nil {
			return samples[i].Err
		}
	}
	drift := replay.MeasureDrift(workload, samples)
	late := bench.Times{N: drift.Late.N, Median: drift.Late.P50, P99: drift.Late.P99}
	b.add(bench.AtMost(fmt.Sprintf("replay, %d requests/s, issue drift", replayedRate), 100*drift.All, 1, "%").
		With(late, fmt.Sprintf("times: from intended to sent; worst second %.2f %%; latency p50 %v", 100*drift.Worst, replay.Summarise(samples).Latency.P50.Round(10*time.Microsecond))))
	return nil
}
