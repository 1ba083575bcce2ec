package engine_test

// The rules of the engine that the paper does not speak of: kinds of start,
// binding and memory. Those about failure and change are in
// rules_fault_test.go and rules_change_test.go.

import (
	"slices"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

func TestKindsOfStart(t *testing.T) {
	f, long := fn(100, 200*ms), fn(100, sec)
	oneShot := fn(100, 200*ms)
	oneShot.Spec.OneShot = true
	for _, c := range []struct {
		name   string
		preset string
		pool   int64
		f      enginetest.Fn
		calls  []call
		want   string
	}{
		{"warm: a free slot on arrival", "cidre-bss", 1000, f, []call{{0, 0, ms}, {sec, 0, ms}}, "cold warm"},
		{
			"warm: also at the first use", "cidre-bss", 1000, f, // s1 was made for r2 and never used
			[]call{{0, 0, ms}, {sec, 0, 50 * ms}, {1010 * ms, 0, ms}, {2 * sec, 0, sec}, {2 * sec, 0, ms}}, "cold warm delayed warm warm",
		},
		{
			"cold: ready during the wait, whoever it was started for", "cidre-bss", 1000, f, // r1 gets r2's start
			[]call{{0, 0, sec}, {100 * ms, 0, 150 * ms}, {150 * ms, 0, ms}}, "cold cold cold",
		},
		{
			"delayed: a busy one came free", "cidre-bss", 1000, long,
			[]call{{0, 0, ms}, {2 * sec, 0, 50 * ms}, {2010 * ms, 0, ms}},
			"cold warm delayed",
		},
		{
			"delayed: second use of what became ready meanwhile", "cidre-bss", 100, f,
			[]call{{0, 0, 10 * ms}, {10 * ms, 0, ms}},
			"cold delayed",
		},
		{
			"delayed and blocked: its start lacked memory", "faascache", 100, f,
			[]call{{0, 0, 10 * ms}, {10 * ms, 0, ms}},
			"cold delayed/blocked",
		},
		{"one-shot: always cold", "cidre", 1000, oneShot, []call{{0, 0, ms}, {sec, 0, ms}, {2 * sec, 0, ms}}, "cold cold cold"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := play(t, c.preset, c.pool, []enginetest.Fn{c.f}, c.calls, 10*sec)
			wantString(t, h, "kinds", kinds(h), c.want)
		})
	}
}

func TestMemoryStaysChargedUntilGone(t *testing.T) {
	h := enginetest.New(t, config(t, "lru", 100), fn(100, 100*ms), fn(100, 100*ms))
	h.Destroy = 700 * ms
	h.Arrive(0, 0, ms)
	h.Arrive(sec, 1, ms)
	h.Do(1500*ms, func() {
		n := h.E.Snapshot().Node
		if n.FreeMB != 0 || n.DyingMB != 100 || view(h, 0).HeldMB != 100 {
			t.Errorf("free %d, dying %d, held %d", n.FreeMB, n.DyingMB, view(h, 0).HeldMB)
		}
	})
	h.Run(3 * sec)
	wantLog(t, h, `
		0s    start f0 as s0
		100ms run r0 on s0 cold wait 100ms
		1s    destroy s0: pressure
		1.7s  start f1 as s0
		1.8s  run r1 on s0 cold wait 800ms`)
}

func TestNothingIsEvictedInVain(t *testing.T) {
	// 300 MB: f0 busy with 200, f1 idle with 100; f2 wants 200. f1 stays
	// until f0 is idle, and then one of them suffices.
	h := play(t, "lru", 300, []enginetest.Fn{fn(200, 100*ms), fn(100, 100*ms), fn(200, 100*ms)},
		[]call{{0, 0, 5 * sec}, {0, 1, 10 * ms}, {sec, 2, ms}, {2 * sec, 1, 10 * ms}}, 10*sec)
	wantString(t, h, "kinds", kinds(h), "cold cold cold warm")
	wantString(t, h, "victims", victims(h), "s1 s0")
}

func TestFreedMemoryIsReservedForTheHead(t *testing.T) {
	// f1 (300 MB) waits for three sandboxes of f0 that end one by one; f2's
	// small start must not slip in.
	small := fn(100, 10*ms)
	h := play(t, "cidre-bss", 300, []enginetest.Fn{small, fn(300, 100*ms), small}, []call{
		{0, 0, sec}, {0, 0, 2 * sec}, {0, 0, 3 * sec}, {500 * ms, 1, ms}, {600 * ms, 2, ms},
	}, 10*sec)
	wantLog(t, h, `
		0s     start f0 as s0
		0s     start f0 as s1
		0s     start f0 as s2
		10ms   run r0 on s0 cold wait 10ms
		10ms   run r1 on s1 cold wait 10ms
		10ms   run r2 on s2 cold wait 10ms
		3.01s  destroy s0: pressure
		3.01s  destroy s1: pressure
		3.01s  destroy s2: pressure
		3.01s  start f1 as s2
		3.11s  run r3 on s2 cold wait 2.61s
		3.111s destroy s2: pressure
		3.111s start f2 as s2
		3.121s run r4 on s2 cold wait 2.521s`)
}

func TestQueuedStartsAreTrimmedNewestFirst(t *testing.T) {
	// Queue: f0 (r2), f1 (r3), f0 (r4). s0 comes free and serves r2, so one
	// start of f0 is enough: the newest goes, and the other keeps its place
	// before f1's when s1's memory comes free.
	one := fn(100, 100*ms)
	h := play(t, "cidre-bss", 200, []enginetest.Fn{one, one, one}, []call{
		{0, 0, sec}, {0, 2, 2 * sec}, {200 * ms, 0, 5 * sec}, {300 * ms, 1, ms}, {400 * ms, 0, ms},
	}, 4*sec)
	wantLog(t, h, `
		0s     start f0 as s0
		0s     start f2 as s1
		100ms  run r0 on s0 cold wait 100ms
		100ms  run r1 on s1 cold wait 100ms
		1.1s   run r2 on s0 delayed wait 900ms
		2.1s   destroy s1: pressure
		2.1s   start f0 as s1
		2.2s   run r4 on s1 cold wait 1.8s
		2.201s destroy s1: pressure
		2.201s start f1 as s1
		2.301s run r3 on s1 cold wait 2.001s`)
}

func TestNoStarvation(t *testing.T) {
	// f0 has a backlog of 1 s requests that keeps both of its sandboxes busy
	// for ten seconds, and its starts are first in the queue; f1 arrives at
	// 500 ms.
	run := func(after time.Duration) *enginetest.Harness {
		cfg := config(t, "cidre-bss", 300)
		cfg.StarveMin = after
		one := fn(100, 100*ms)
		h := enginetest.New(t, cfg, one, one, one)
		h.Arrive(0, 2, 1900*ms) // holds less than f0
		for range 20 {
			h.Arrive(0, 0, sec)
		}
		h.Arrive(500*ms, 1, ms)
		h.Arrive(500*ms, 2, 20*sec)
		h.Run(30 * sec)
		return h
	}
	const starving, other = 21, 22
	t.Run("takes the next free sandbox of the largest function", func(t *testing.T) {
		h := run(2 * sec)
		// Older than 2 s from 2.5 s on; f0's next ones end at 3.1 s.
		if w := h.Results[starving].Wait; w != 2700*ms {
			t.Errorf("waited %v, want 2.7 s\n%s", w, h.Transcript())
		}
		if !slices.Contains(h.Log, "    3.1s  destroy s1: starved") {
			t.Errorf("want one of f0's to make way\n%s", h.Transcript())
		}
		if !h.Results[other].Served || h.Results[other].Kind != policies.Delayed {
			t.Errorf("f2, which holds less, lost its sandbox\n%s", h.Transcript())
		}
	})
	t.Run("off", func(t *testing.T) {
		h := run(0)
		if w := h.Results[starving].Wait; w < 9*sec {
			t.Errorf("waited %v only\n%s", w, h.Transcript())
		}
	})
}

func TestNoStarvationWaitsForTwiceTheColdStart(t *testing.T) {
	cfg := config(t, "cidre-bss", 100)
	cfg.StarveMin = sec
	slow := fn(100, 3*sec)
	slow.Spec.ColdEst = 3 * sec
	h := enginetest.New(t, cfg, fn(100, 100*ms), slow)
	for range 20 {
		h.Arrive(0, 0, sec)
	}
	h.Arrive(500*ms, 1, ms) // 2 T_p = 6 s: from 6.5 s on; f0's next ends at 7.1 s
	h.Run(40 * sec)
	if w := h.Results[20].Wait; w != 9600*ms {
		t.Errorf("waited %v, want 9.6 s\n%s", w, h.Transcript())
	}
}

func TestStartSlots(t *testing.T) {
	slots := func(n int) engine.Config {
		cfg := config(t, "cidre-bss", 10000)
		cfg.StartSlots = n
		return cfg
	}
	burst := []call{{0, 0, 5 * sec}, {0, 0, 5 * sec}, {0, 0, 5 * sec}, {0, 0, 5 * sec}}
	t.Run("limit starts in progress", func(t *testing.T) {
		h := drive(t, slots(2), []enginetest.Fn{fn(100, 100*ms)}, burst, 3*sec)
		wantWaits(t, h, 100*ms, 100*ms, 200*ms, 200*ms)
	})
	t.Run("0 is no limit", func(t *testing.T) {
		h := drive(t, slots(0), []enginetest.Fn{fn(100, 100*ms)}, burst, 3*sec)
		wantWaits(t, h, 100*ms, 100*ms, 100*ms, 100*ms)
	})
	t.Run("a start that waits for a slot is given up with its demand", func(t *testing.T) {
		h := enginetest.New(t, slots(1), fn(100, 100*ms))
		h.Arrive(0, 0, ms)
		h.Cancel(50*ms, h.Arrive(0, 0, ms))
		h.Run(sec)
		if starts(h) != 1 {
			t.Errorf("%d starts, want 1\n%s", starts(h), h.Transcript())
		}
	})
	t.Run("a failed start gives its slot back", func(t *testing.T) {
		bad := fn(100, 100*ms)
		bad.Fail = func(int) (engine.Fault, bool) { return engine.FaultLambda, true }
		h := drive(t, slots(1), []enginetest.Fn{bad, fn(100, 100*ms)}, []call{{0, 0, ms}, {0, 1, ms}}, sec)
		wantString(t, h, "kinds", kinds(h), "- cold")
	})
}

func TestCancel(t *testing.T) {
	for _, c := range []struct {
		name   string
		preset string
		pool   int64
		want   string
	}{
		{"late-bound", "cidre-bss", 100, "cold - delayed"},
		{"bound to a start that lacks memory", "ttl", 100, "cold - delayed/blocked"},
		{"bound to a start in progress", "ttl", 1000, "cold - cold"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := enginetest.New(t, config(t, c.preset, c.pool), fn(100, 500*ms))
			h.Arrive(0, 0, sec)
			h.Cancel(200*ms, h.Arrive(100*ms, 0, sec))
			h.Arrive(100*ms, 0, sec)
			h.Cancel(700*ms, 0) // runs: ignored
			h.Run(5 * sec)
			wantString(t, h, "kinds", kinds(h), c.want)
			if f := view(h, 0); f.Waiting != 0 || f.Queued != 0 {
				t.Errorf("%d waiting, %d queued", f.Waiting, f.Queued)
			}
		})
	}
}

func TestQueueLimit(t *testing.T) {
	cfg := config(t, "cidre-bss", 100)
	cfg.QueueLimit = 2
	h := drive(t, cfg, []enginetest.Fn{fn(100, 100*ms), fn(100, 100*ms)},
		[]call{{0, 0, sec}, {500 * ms, 0, sec}, {500 * ms, 0, sec}, {500 * ms, 0, sec}, {500 * ms, 1, ms}, {1200 * ms, 0, sec}}, 10*sec)
	wantString(t, h, "kinds", kinds(h), "cold delayed delayed - cold delayed")
	if why := h.Results[3].Rejected; why != engine.ReasonQueueFull {
		t.Errorf("rejected: %v", why)
	}
}
