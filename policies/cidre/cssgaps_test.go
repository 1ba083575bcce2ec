package cidre_test

// What CSS does where the text of the paper is silent; the subtests describe
// the gap. The same gaps as seen through the engine are in its gaps_test.go.

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/cidre"
)

func TestGapTdWhileTheHeadStillWaits(t *testing.T) {
	t.Run("age of the head counts", func(t *testing.T) {
		w := newWorld(t, cidre.DefaultCSS())
		off(w)
		w.f.HeadSince, w.f.Waiting = w.now, 1
		w.at(1100 * ms)
		if v, _ := w.arrive(); v.Start != 0 {
			t.Error("races at an age of 100 ms, which is T_p")
		}
		w.at(1101 * ms)
		if v, _ := w.arrive(); v.Start != 1 {
			t.Error("does not race at an age of 101 ms")
		}
	})
	t.Run("the longer of age and last wait", func(t *testing.T) {
		w := newWorld(t, cidre.DefaultCSS())
		off(w)
		w.delayed(2*time.Second, 150*ms)
		w.at(3 * time.Second)
		w.wantRace(true, "last wait 150 ms, head 0 ms old")
	})
	t.Run("literally, completed waits only", func(t *testing.T) {
		w := newWorld(t, literal())
		off(w)
		w.f.HeadSince, w.f.Waiting = w.now, 1
		w.at(time.Minute)
		if v, _ := w.arrive(); v.Start != 0 {
			t.Error("a head that waits is no completed wait")
		}
	})
	t.Run("no observation is 0", func(t *testing.T) {
		w := newWorld(t, cidre.DefaultCSS())
		off(w)
		w.at(2 * time.Second)
		w.wantRace(false, "T_d 0")
	})
}

func TestGapNobodyArrives(t *testing.T) {
	t.Run("timer at head arrival plus T_p", func(t *testing.T) {
		w := newWorld(t, cidre.DefaultCSS())
		off(w)
		w.at(2 * time.Second)
		v, _ := w.arrive()
		if want := w.now.Add(100 * ms); v.Again != want {
			t.Errorf("asks again at %v, want %v", v.Again, want)
		}
		w.at(2050 * ms)
		w.arrive()
		w.at(2100*ms - 1)
		if v := w.recheck(); v.Start != 0 || v.Again != policies.Time(1).Add(2100*ms) {
			t.Errorf("before its time: %+v", v)
		}
		w.at(2100 * ms)
		w.f.Provisioning = 1
		if v := w.recheck(); v.Start != 1 { // >=, and one of two is on its way
			t.Errorf("at its time: %+v, want one start for two waiting and one starting", v)
		}
		w.at(2101 * ms)
		if v, _ := w.arrive(); v.Start != 1 {
			t.Error("the timer has not switched the race on")
		}
	})
	t.Run("literally, no timer", func(t *testing.T) {
		w := newWorld(t, literal())
		off(w)
		if v, _ := w.arrive(); v.Again != policies.Never {
			t.Errorf("asks again at %v", v.Again)
		}
		w.at(time.Hour)
		if v := w.recheck(); v.Start != 0 {
			t.Errorf("%+v", v)
		}
	})
}

func TestGapWhichSamplesCount(t *testing.T) {
	t.Run("T_d is unknown after switching off", func(t *testing.T) {
		w := newWorld(t, literal())
		off(w)
		w.delayed(2*time.Second, 500*ms)
		w.at(3 * time.Second)
		w.wantRace(true, "T_d 500 ms")
		b := w.raced(4 * time.Second)
		w.at(5 * time.Second)
		w.fact(policies.FactUsed, b)
		w.wantRace(false, "T_i 1 s")
		w.wantRace(false, "the old T_d of 500 ms is forgotten")
	})
	t.Run("cold and abandoned waits are no T_d", func(t *testing.T) {
		w := newWorld(t, literal())
		off(w)
		_, o := w.arrive()
		w.at(2 * time.Second)
		o.Cold(w.now, time.Second)
		_, o = w.arrive()
		o.Abandoned(w.now, time.Second)
		w.served(nil, 0)
		w.wantRace(false, "no completed delayed wait")
	})
	t.Run("prewarmed sandboxes are no T_i", func(t *testing.T) {
		for _, cause := range []policies.Cause{policies.ForPrewarm, policies.ForMinimum} {
			w := newWorld(t, literal())
			w.executed(40 * ms)
			b := w.ready(w.start(cause))
			w.at(time.Second)
			w.fact(policies.FactUsed, b)
			w.wantRace(true, "not started by a race")
		}
	})
	t.Run("the one that became ready last", func(t *testing.T) {
		w := newWorld(t, literal())
		w.executed(40 * ms)
		a := w.start(policies.ForDemand)
		b := w.start(policies.ForDemand)
		w.at(100 * ms)
		w.ready(b)
		w.at(150 * ms)
		w.ready(a) // started first, ready last
		w.at(160 * ms)
		w.fact(policies.FactUsed, a) // T_i = 10 ms
		w.at(400 * ms)
		w.fact(policies.FactUsed, b)
		w.wantRace(true, "the 300 ms of the other do not count")
	})
	t.Run("a sandbox of a start without a race is no T_i", func(t *testing.T) {
		w := newWorld(t, literal())
		off(w)
		w.delayed(2*time.Second, 500*ms) // the next arrival switches on
		b := w.start(policies.ForDemand) // started while off
		w.at(2100 * ms)
		w.ready(b)
		w.at(3 * time.Second)
		w.fact(policies.FactUsed, b)
		w.wantRace(true, "T_d 500 ms")
		w.wantRace(true, "T_i is unknown")
	})
}

func TestGapIdleSoFarOrEvictedUnused(t *testing.T) {
	t.Run("still idle", func(t *testing.T) {
		w := newWorld(t, literal())
		w.executed(40 * ms)
		w.raced(100 * ms)
		w.at(140 * ms)
		w.wantRace(true, "idle for 40 ms")
		w.at(141 * ms)
		w.wantRace(false, "idle for 41 ms")
	})
	t.Run("evicted unused is always wasteful", func(t *testing.T) {
		w := newWorld(t, literal())
		w.executed(40 * ms)
		b := w.raced(100 * ms)
		w.at(101 * ms)
		w.fact(policies.FactEvicted, b)
		w.wantRace(false, "evicted after 1 ms")
	})
	t.Run("evicted after use is not", func(t *testing.T) {
		w := newWorld(t, literal())
		w.executed(40 * ms)
		b := w.raced(100 * ms)
		w.fact(policies.FactUsed, b)
		w.at(time.Minute)
		w.fact(policies.FactEvicted, b)
		w.wantRace(true, "T_i 0")
	})
	t.Run("died unused tells nothing", func(t *testing.T) {
		w := newWorld(t, literal())
		w.executed(40 * ms)
		b := w.raced(100 * ms)
		w.at(time.Second)
		w.fact(policies.FactGone, b)
		w.wantRace(true, "T_i is unknown")
	})
	t.Run("only the first reuse counts", func(t *testing.T) {
		w := newWorld(t, literal())
		w.executed(40 * ms)
		b := w.raced(100 * ms)
		w.fact(policies.FactUsed, b)
		w.at(time.Minute)
		w.fact(policies.FactUsed, b)
		w.wantRace(true, "T_i 0")
	})
	t.Run("another sandbox with the same id", func(t *testing.T) {
		w := newWorld(t, literal())
		w.executed(40 * ms)
		b := w.raced(100 * ms)
		w.fact(policies.FactUsed, b)
		b.Born += 100
		w.fact(policies.FactEvicted, b)
		w.wantRace(true, "it is not the one that the race started")
	})
}

func TestGapStaleTiAfterReEnabling(t *testing.T) {
	w := newWorld(t, literal())
	off(w)
	w.delayed(2*time.Second, 500*ms)
	w.at(3 * time.Second)
	w.wantRace(true, "T_d 500 ms")
	w.wantRace(true, "T_i of 900 ms was forgotten")
}

func TestGapBeforeSamples(t *testing.T) {
	t.Run("T_e unknown keeps the race on", func(t *testing.T) {
		w := newWorld(t, literal())
		w.raced(100 * ms)
		w.at(time.Minute)
		w.wantRace(true, "no execution yet")
	})
	for _, c := range []struct {
		name string
		now  time.Duration // ColdNow
		want time.Duration
	}{
		{"T_p from the driver's estimate", 70 * ms, 70 * ms},
		{"T_p from the memory model", 0, 170 * ms}, // 100 MB at 1.7 ms
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, cidre.DefaultCSS())
			w.f.ColdNow = c.now
			if v, _ := w.arrive(); v.Again != w.now.Add(c.want) {
				t.Errorf("asks again at %v, want %v later", v.Again, c.want)
			}
		})
	}
}

func TestGapNoSandboxAtAll(t *testing.T) {
	w := newWorld(t, literal())
	off(w)
	w.f.Live = 0
	w.wantRace(true, "nobody could serve otherwise")
	w.f.Queued = 1
	w.wantRace(false, "a start is wanted already")
}
