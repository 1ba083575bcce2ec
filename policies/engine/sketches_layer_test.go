package engine_test

// Sketches of policies that keep less than the whole sandbox.

import (
	"slices"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

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
