package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/pause"
)

// What a neighbour is measured with.
const (
	neighbourPairs = 5
	neighbourRate  = 200             // requests a second
	neighbourHalf  = 2 * time.Second // 400 requests: 2,000 beside each tenant
	neighbourBegin = 300 * time.Millisecond
	neighbourRest  = 500 * time.Millisecond // between two halves
	neighbourLimit = 2                      // times the latency beside a tenant that behaves
)

// A neighbour uses a millisecond of the processor for each request; a tenant
// that behaves has one process that uses all of the share that it is given, and
// never more memory than it needs.
const (
	neighbourBody = `{"ms": 1}`
	behavedBody   = `{"ms": 100}`
)

// neighbours checks what a tenant who abuses a worker costs the others there.
func (b *bencher) neighbours(ctx context.Context) (err error) {
	w, err := b.worker(ctx, "neighbours", "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	s := &street{worker: w}
	for _, name := range []string{"neighbour", "behaved"} {
		if err := w.installNamed(ctx, name, "spin"); err != nil {
			return err
		}
	}
	if _, _, err := s.half(ctx, s.behaved()); err != nil { // its sandboxes are made then
		return err
	}
	for i, a := range offences() {
		if !strings.Contains(a.name, b.abuse) {
			continue
		}
		b.streams.say("measuring a neighbour of: %s", a.name)
		bar, err := s.beside(ctx, a, uint64(i))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			bar = bench.Failed(a.barName(), err)
		}
		b.add(bar)
	}
	return nil
}

// street is a worker on which tenants live side by side.
type street struct{ worker *tempWorker }

func (s *street) target(name, body string) bench.Target {
	return bench.Target{Method: http.MethodPost, URL: s.worker.node.url("/run/" + name), Body: body}
}

// behaved is a tenant that uses what it is given, and nothing else.
func (s *street) behaved() tenant {
	return tenant{target: s.target("behaved", behavedBody), tasks: 1}
}

// beside measures a neighbour of one abuse in alternating pairs.
func (s *street) beside(ctx context.Context, a offence, seed uint64) (bench.Bar, error) {
	name := "abuser" + fmt.Sprint(seed)
	packed, err := packBuiltin(a.builtin, []byte(a.config))
	if err != nil {
		return bench.Bar{}, err
	}
	if err := s.worker.install(ctx, name, packed); err != nil {
		return bench.Bar{}, err
	}
	abuser := tenant{target: s.target(name, a.body), tasks: a.tasks, sip: a.sip}
	pairs, got, err := s.inPairs(ctx, [2]tenant{s.behaved(), abuser})
	if err != nil {
		return bench.Bar{}, err
	}
	if got[0].statuses[http.StatusOK] == 0 || got[1].statuses[a.status] == 0 {
		return bench.Bar{}, fmt.Errorf("%s did not come about: the tenant that behaves got %s, the other %s, want some %d",
			a.name, got[0], got[1], a.status)
	}
	return a.bar(pairs, seed, got[1])
}

// inPairs measures the neighbour beside either tenant in turn; each is the first
// of a pair as often as the other, but once.
func (s *street) inPairs(ctx context.Context, tenants [2]tenant) ([]bench.Pair, [2]*tally, error) {
	var pairs []bench.Pair
	got := [2]*tally{{}, {}}
	for i := range neighbourPairs {
		var times [2][]time.Duration
		for k := range 2 {
			which := (i + k) % 2
			half, y, err := s.half(ctx, tenants[which])
			if err != nil {
				return nil, got, err
			}
			times[which] = half
			got[which].add(y)
		}
		pairs = append(pairs, bench.Pair{Base: times[0], Other: times[1]})
	}
	return pairs, got, nil
}

// half measures the neighbour while a tenant is active.
func (s *street) half(ctx context.Context, v tenant) (_ []time.Duration, y *tally, err error) {
	active, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { y = v.run(active) })
	var out bench.Outcome
	// Elsewhere, because this goroutine is tied to a thread, which costs.
	wg.Go(func() {
		defer stop()
		load := bench.Load{
			Next: func() bench.Target { return s.target("neighbour", neighbourBody) },
			Rate: neighbourRate, Length: neighbourBegin,
		}
		load.Run(ctx) // the first moments are not measured
		load.Length = neighbourHalf
		out = load.Run(ctx)
	})
	wg.Wait()
	if !pause.For(ctx, neighbourRest) {
		return nil, nil, ctx.Err()
	}
	if out.Failures > 0 {
		return nil, nil, fmt.Errorf("%d of the neighbour's requests failed: %w", out.Failures, out.FirstFail)
	}
	return out.Latencies, y, nil
}

func (a offence) barName() string { return "neighbour of " + a.name + ", p95" }

func (a offence) bar(pairs []bench.Pair, seed uint64, got *tally) (bench.Bar, error) {
	ratio, err := bench.CompareTails(pairs, seed)
	if err != nil {
		return bench.Bar{}, err
	}
	var base, other []time.Duration
	for _, p := range pairs {
		base, other = append(base, p.Base...), append(other, p.Other...)
	}
	note := fmt.Sprintf("%v against %v; the abuser got %s",
		bench.Tail(other).Round(10*time.Microsecond), bench.Tail(base).Round(10*time.Microsecond), got)
	return bench.AtMost(a.barName(), ratio.Ratio, neighbourLimit, "x").
		Between(ratio.Low, ratio.High).With(bench.Describe(other), note), nil
}
