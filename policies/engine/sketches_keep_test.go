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

// layered keeps a full sandbox, then its language layer, then a bare one, each
// for a time, and builds starts from idle layers (RainbowCake).
type layered struct {
	keep time.Duration
	idle []layer
}

type layer struct {
	id    policies.SandboxID
	since policies.Time
}

const (
	bare     = policies.FormLayer
	language = policies.FormLayer + 1
)

func (l *layered) Insert(v policies.View, id policies.SandboxID) {
	l.idle = append(l.idle, layer{id, v.Now()})
}

func (l *layered) Remove(_ policies.View, id policies.SandboxID) {
	l.idle = slices.DeleteFunc(l.idle, func(o layer) bool { return o.id == id })
}

func (l *layered) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	if len(l.idle) == 0 {
		return policies.NoSandbox, false
	}
	return l.idle[0].id, true
}

func (l *layered) Expire(v policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	if len(l.idle) == 0 {
		return policies.NoSandbox, policies.FormGone, policies.Never
	}
	if due := l.idle[0].since.Add(l.keep); v.Now() < due {
		return policies.NoSandbox, policies.FormGone, due
	}
	id := l.idle[0].id
	switch v.Sandbox(id).Form {
	case policies.FormFull:
		return id, language, policies.Never
	case language:
		return id, bare, policies.Never
	}
	return id, policies.FormGone, policies.Never
}

// Reuse prefers the language layer of the same language to a bare one.
func (l *layered) Reuse(v policies.View, fn policies.FuncID) policies.SandboxID {
	found := policies.NoSandbox
	for _, o := range l.idle {
		b := v.Sandbox(o.id)
		switch {
		case b.Form == language && v.Func(b.Fn).Spec.Layer == v.Func(fn).Spec.Layer:
			return b.ID
		case b.Form == bare && found == policies.NoSandbox:
			found = b.ID
		}
	}
	return found
}

func speaking(l policies.LayerID) enginetest.Fn { f := fn(100, 100*ms); f.Spec.Layer = l; return f }

func layerMB(a engine.Action) (time.Duration, int64) {
	return 20 * ms, map[policies.Form]int64{language: 60, bare: 20, policies.FormShrunk: 30}[a.Form]
}

func TestSketchLayers(t *testing.T) {
	run := func(pool int64, calls []call, until time.Duration) *enginetest.Harness {
		h := enginetest.New(t, engine.Config{PoolMB: pool, Scaler: coldstart.Scaler{}, Evictor: &layered{keep: 10 * sec}},
			speaking(1), speaking(1), speaking(2))
		h.Reshape = layerMB
		for _, c := range calls {
			h.Arrive(c.at, c.fn, c.exec)
		}
		h.Run(until)
		return h
	}
	t.Run("demoted step by step, then destroyed", func(t *testing.T) {
		h := run(1000, []call{{0, 0, ms}}, time.Minute)
		wantLog(t, h, `
			0s      start f0 as s0
			100ms   run r0 on s0 cold wait 100ms
			10.101s reshape s0 to layer 1
			20.121s reshape s0 to layer 0
			30.141s destroy s0: expired`)
	})
	t.Run("a language layer serves another function of it", func(t *testing.T) {
		h := run(1000, []call{{0, 0, ms}, {15 * sec, 1, ms}, {15 * sec, 0, ms}}, 20*sec)
		wantString(t, h, "start", lines(h, "start f1")[0], "start f1 as s1 from s0")
		if n := h.E.Snapshot().Node; n.PoolMB-n.FreeMB != 200 {
			t.Errorf("%d MB charged, want 200", n.PoolMB-n.FreeMB)
		}
	})
	t.Run("not one of another language", func(t *testing.T) {
		h := run(1000, []call{{0, 0, ms}, {15 * sec, 2, ms}}, 20*sec)
		wantString(t, h, "start", lines(h, "start f2")[0], "start f2 as s1")
	})
	t.Run("a bare one serves any", func(t *testing.T) {
		h := run(1000, []call{{0, 0, ms}, {25 * sec, 2, ms}}, 26*sec)
		wantString(t, h, "start", lines(h, "start f2")[0], "start f2 as s1 from s0")
	})
	t.Run("a demoted sandbox serves nobody", func(t *testing.T) {
		h := run(1000, []call{{0, 0, ms}, {10110 * ms, 0, ms}}, 12*sec)
		wantString(t, h, "kinds", kinds(h), "cold cold")
		if f := view(h, 0); f.Live != 1 || f.HeldMB != 160 {
			t.Errorf("%d live with %d MB, want 1 with 160", f.Live, f.HeldMB)
		}
	})
	t.Run("charged in full until the mechanism has reshaped it", func(t *testing.T) {
		h := run(1000, []call{{0, 0, ms}}, 10110*ms)
		if f := view(h, 0); f.Live != 0 || f.HeldMB != 100 {
			t.Errorf("%d live with %d MB, want 0 with 100", f.Live, f.HeldMB)
		}
	})
	t.Run("only the missing memory is needed", func(t *testing.T) {
		h := run(100, []call{{0, 0, ms}, {15 * sec, 1, ms}}, 20*sec)
		wantString(t, h, "start", lines(h, "start f1")[0], "start f1 as s1 from s0")
		wantString(t, h, "victims", victims(h), "")
	})
	t.Run("a mechanism that cannot says so", func(t *testing.T) {
		h := run(1000, nil, 0)
		h.Reshape = nil
		h.Arrive(0, 0, ms)
		h.Plan(11*sec, engine.Event{Kind: engine.EvReshaped, Sandbox: 0, Form: policies.FormFull, MB: 100})
		h.Arrive(12*sec, 0, ms)
		h.Run(13 * sec)
		wantString(t, h, "kinds", kinds(h), "cold warm")
	})
	t.Run("not while it is being reshaped", func(t *testing.T) {
		h := run(1000, []call{{0, 0, ms}, {10110 * ms, 1, ms}}, 12*sec)
		wantString(t, h, "start", lines(h, "start f1")[0], "start f1 as s1")
	})
}

// shrinking compresses what is idle for a time, and starts a function from its
// compressed sandbox (in the style of CodeCrunch).
type shrinking struct{ layered }

func (s *shrinking) Expire(v policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	id, form, at := s.layered.Expire(v)
	if id != policies.NoSandbox && form == language {
		form = policies.FormShrunk
	}
	return id, form, at
}

func (s *shrinking) Reuse(v policies.View, fn policies.FuncID) policies.SandboxID {
	for _, o := range s.idle {
		if b := v.Sandbox(o.id); b.Form == policies.FormShrunk && b.Fn == fn {
			return b.ID
		}
	}
	return policies.NoSandbox
}

func shrinker(t *testing.T, pool int64, fns ...enginetest.Fn) *enginetest.Harness {
	t.Helper()
	cfg := engine.Config{PoolMB: pool, Scaler: coldstart.Scaler{}, Evictor: &shrinking{layered{keep: 10 * sec}}}
	h := enginetest.New(t, cfg, fns...)
	h.Reshape = layerMB
	return h
}

func TestSketchShrinking(t *testing.T) {
	one := fn(100, 100*ms)
	t.Run("a start uses up the shrunk sandbox of its function", func(t *testing.T) {
		h := shrinker(t, 100, one)
		h.Arrive(0, 0, ms)
		h.Arrive(15*sec, 0, ms)
		h.Run(16 * sec)
		wantLog(t, h, `
			0s      start f0 as s0
			100ms   run r0 on s0 cold wait 100ms
			10.101s reshape s0 to shrunk
			15s     start f0 as s1 from s0
			15.1s   run r1 on s1 cold wait 100ms`)
	})
	t.Run("growth takes what it lacks from others", func(t *testing.T) {
		// 30 MB are shrunk, 100 idle, 20 free: 50 MB more are needed.
		h := shrinker(t, 150, one, one)
		h.Arrive(0, 0, ms)
		h.Arrive(11*sec, 1, ms)
		h.Arrive(12*sec, 0, ms)
		h.Run(13 * sec)
		wantString(t, h, "victims", victims(h), "s1")
		wantString(t, h, "start", lines(h, "start f0")[1], "start f0 as s1 from s0")
	})
	t.Run("the sandbox that grows is not evicted for itself", func(t *testing.T) {
		// 30 MB are shrunk, 70 busy, 60 free (70 lacking): wait, do not evict.
		h := shrinker(t, 160, one, fn(70, 100*ms))
		h.Arrive(0, 0, ms)
		h.Arrive(11*sec, 1, 3*sec)
		h.Arrive(12*sec, 0, ms)
		h.Run(20 * sec)
		wantString(t, h, "victims", victims(h), "s1")
		wantString(t, h, "start", lines(h, "start f0")[1], "start f0 as s1 from s0")
	})
	t.Run("older code is not reused", func(t *testing.T) {
		h := shrinker(t, 1000, one)
		h.Arrive(0, 0, ms)
		h.Plan(12*sec, define(2, 100))
		h.Arrive(15*sec, 0, ms)
		h.Run(16 * sec)
		wantString(t, h, "start", lines(h, "start f0")[1], "start f0 as s0")
		wantString(t, h, "victims", victims(h), "s0")
	})
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
