package engine_test

// Sketches of other people's keep-alive and pre-warming, to prove that the
// interface fits them: small, only for tests, and not tuned.

import (
	"slices"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/lru"
	"github.com/open-lambda/open-lambda/policies/ttl"
)

// future is an oracle made from the calls of a test.
type future struct {
	calls []call
	now   func() time.Duration
}

func (f *future) NextArrival(fn policies.FuncID, k int) policies.Time {
	for _, c := range f.calls {
		if c.fn == fn && c.at > f.now() {
			if k--; k == 0 {
				return policies.Time(1).Add(c.at)
			}
		}
	}
	return policies.Never
}

func (f *future) Exec(id policies.RequestID) time.Duration { return f.calls[id].exec }

// belady evicts the idle sandbox whose next use is furthest. Of k idle ones of
// a function the j-th most recently used serves the j-th next arrival.
type belady struct {
	oracle policies.Oracle
	idle   []policies.SandboxID
}

func (b *belady) Insert(_ policies.View, id policies.SandboxID) { b.idle = append(b.idle, id) }

func (b *belady) Remove(_ policies.View, id policies.SandboxID) {
	b.idle = slices.DeleteFunc(b.idle, func(o policies.SandboxID) bool { return o == id })
}

func (b *belady) Next(v policies.View, _ policies.Start) (policies.SandboxID, bool) {
	order := slices.Clone(b.idle)
	slices.SortFunc(order, func(x, y policies.SandboxID) int { return int(v.Sandbox(y).LastUse - v.Sandbox(x).LastUse) })
	rank := map[policies.FuncID]int{}
	best, furthest := policies.NoSandbox, policies.Time(0)
	for _, id := range order {
		fn := v.Sandbox(id).Fn
		rank[fn]++
		next := b.oracle.NextArrival(fn, rank[fn])
		if next == policies.Never {
			next = 1 << 62
		}
		if best == policies.NoSandbox || next >= furthest {
			best, furthest = id, next
		}
	}
	return best, best != policies.NoSandbox
}

func (b *belady) Expire(policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	return policies.NoSandbox, policies.FormGone, policies.Never
}

func TestSketchBelady(t *testing.T) {
	// f1's sandbox is the least recently used but needed first; of f0's two
	// the first is needed at 10 s, the second never.
	calls := []call{{0, 1, ms}, {sec, 0, ms}, {sec, 0, ms}, {3 * sec, 2, ms}, {5 * sec, 1, ms}, {10 * sec, 0, ms}}
	one := fn(100, 100*ms)
	run := func(e policies.Evictor, o *future) *enginetest.Harness {
		h := enginetest.New(t, engine.Config{PoolMB: 300, Scaler: coldstart.Scaler{}, Evictor: e}, one, one, one)
		o.now = h.Now
		for _, c := range calls {
			h.Arrive(c.at, c.fn, c.exec)
		}
		h.Run(20 * sec)
		return h
	}
	o := &future{calls: calls}
	clairvoyant, recent := run(&belady{oracle: o}, o), run(&lru.LRU{}, o)
	wantString(t, clairvoyant, "belady", kinds(clairvoyant), "cold cold cold cold warm warm")
	wantString(t, recent, "lru", kinds(recent), "cold cold cold cold cold warm")
}

// forecast pre-warms for known times.
type forecast struct {
	at   policies.Time
	want policies.Want
	told bool
}

func (p *forecast) Plan(v policies.View) ([]policies.Want, policies.Time) {
	if v.Now() < p.at || p.told {
		return nil, p.at
	}
	p.told = true
	return []policies.Want{p.want}, policies.Never
}

func TestSketchPrewarmer(t *testing.T) {
	one := fn(100, 100*ms)
	run := func(pool int64, w policies.Want, calls []call, until time.Duration) *enginetest.Harness {
		keep, err := ttl.New(5*sec, ttl.Idle)
		if err != nil {
			t.Fatal(err)
		}
		cfg := engine.Config{PoolMB: pool, Scaler: coldstart.Scaler{}, Evictor: keep, Prewarmer: &forecast{at: policies.Time(10 * sec), want: w}}
		return drive(t, cfg, []enginetest.Fn{one, one}, calls, until)
	}
	t.Run("ready before the first request", func(t *testing.T) {
		h := run(1000, policies.Want{Fn: 0, N: 2}, []call{{11 * sec, 0, ms}, {11 * sec, 0, ms}, {11 * sec, 0, ms}}, 12*sec)
		wantString(t, h, "kinds", kinds(h), "warm warm cold")
	})
	t.Run("kept until the wish ends", func(t *testing.T) {
		keep := policies.Time(60 * sec)
		h := run(1000, policies.Want{Fn: 0, N: 1, KeepUntil: keep}, []call{{59 * sec, 0, ms}}, 59*sec+10*ms)
		wantString(t, h, "kinds", kinds(h), "warm")
		h = run(1000, policies.Want{Fn: 0, N: 1}, nil, 21*sec)
		if n := len(lines(h, "destroy s0: expired")); n == 0 {
			t.Errorf("never expired without a wish\n%s", h.Transcript())
		}
	})
	for _, c := range []struct {
		name     string
		mayEvict bool
		want     string
	}{{"evicts if it may", true, "s0"}, {"takes free memory only if it may not", false, ""}} {
		t.Run(c.name, func(t *testing.T) {
			h := run(100, policies.Want{Fn: 0, N: 1, MayEvict: c.mayEvict}, []call{{9 * sec, 1, ms}}, 12*sec)
			wantString(t, h, "victims", victims(h), c.want)
		})
	}
}
