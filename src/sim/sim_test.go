package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/placement"
	"github.com/open-lambda/open-lambda/src/trace"
)

func preset(name string) func(policies.Oracle) (catalog.Policy, error) {
	return func(o policies.Oracle) (catalog.Policy, error) {
		return catalog.New(name, "", "", catalog.Params{Oracle: o})
	}
}

// random is a workload under pressure: functions of different size, uneven
// arrivals.
func random(seed uint64, requests int) trace.Workload {
	r := rand.New(rand.NewPCG(seed, 1))
	var functions []trace.Profile
	for i := range 20 {
		mb := int64(50 + r.IntN(200))
		functions = append(functions, trace.Profile{Name: fmt.Sprintf("f%d", i), MB: mb, Cold: time.Duration(mb) * 2 * time.Millisecond})
	}
	var all []trace.Invocation
	at := time.Duration(0)
	for range requests {
		at += time.Duration(r.ExpFloat64() * float64(5*time.Millisecond))
		fn := int(20 * r.Float64() * r.Float64())
		all = append(all, trace.Invocation{At: at, Function: fn, Exec: time.Duration(r.ExpFloat64() * float64(100*time.Millisecond))})
	}
	return trace.FromSlice("random", 0, functions, all)
}

func config(policy string, w trace.Workload) Config {
	e, _ := catalog.Find(policy)
	return Config{
		Workload: w, Nodes: 1, PoolMB: 2000, Policy: preset(policy), Warmup: true, Languages: 3,
		Future: len(e.Caps) > 0 && e.Caps[0] == catalog.CapOracle,
	}
}

func mustRun(t testing.TB, cfg Config) *Result {
	t.Helper()
	res, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Every policy serves everybody, counts everybody once, and does the same
// again.
func TestEveryPresetConservesAndRepeats(t *testing.T) {
	w := random(1, 3000)
	for _, name := range catalog.Names("") {
		t.Run(name, func(t *testing.T) {
			a, b := mustRun(t, config(name, w)), mustRun(t, config(name, w))
			if a.Arrived != 3000 || a.Served != 3000 || a.Waiting != 0 {
				t.Errorf("arrived %d, served %d, rejected %d, waiting %d", a.Arrived, a.Served, a.Rejected, a.Waiting)
			}
			if a.Cold+a.Delayed+a.Warm != a.Served {
				t.Errorf("cold %d + delayed %d + warm %d is not %d", a.Cold, a.Delayed, a.Warm, a.Served)
			}
			if diff := cmp.Diff(a, b); diff != "" {
				t.Errorf("a second run differs: %s", diff)
			}
			if a.PeakMB > 2000 {
				t.Errorf("%d MB in use, the pool has 2000", a.PeakMB)
			}
		})
	}
}

// Twenty runs, any GOMAXPROCS, one hash.
func TestSameActionsWhateverTheMachine(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	w := random(2, 2000)
	want := ""
	for i := range 20 {
		runtime.GOMAXPROCS(1 + i%4)
		cfg := config("cidre", w)
		cfg.Faults = Faults{StartHost: 0.05, StartLambda: 0.02, Die: 0.02, SlowDestroy: 0.1, SlowBy: time.Second}
		cfg.Seed = 9
		res := mustRun(t, cfg)
		if i == 0 {
			want = res.ActionHash
		} else if res.ActionHash != want {
			t.Fatalf("run %d: action hash %s, before it was %s", i, res.ActionHash, want)
		}
	}
	cfg := config("cidre", random(3, 2000))
	if mustRun(t, cfg).ActionHash == want {
		t.Error("another workload gives the same hash")
	}
}

func TestFaultsLoseNobody(t *testing.T) {
	cfg := config("cidre", random(4, 3000))
	cfg.Faults = Faults{StartHost: 0.2, StartLambda: 0.05, Die: 0.05, SlowDestroy: 0.5, SlowBy: 2 * time.Second}
	cfg.Destroy = 20 * time.Millisecond
	res := mustRun(t, cfg)
	if res.Failed == 0 || res.Died == 0 || res.Rejected == 0 {
		t.Errorf("failed %d, died %d, rejected %d: no fault was injected", res.Failed, res.Died, res.Rejected)
	}
	if res.Waiting != 0 {
		t.Errorf("%d requests wait for ever", res.Waiting)
	}
}

// The engine's own invariants hold at every step.
func TestEngineChecksUnderFaults(t *testing.T) {
	cfg := config("cidre", random(5, 300))
	cfg.Faults = Faults{StartHost: 0.1, Die: 0.1, SlowDestroy: 0.3, SlowBy: time.Second}
	r := newRun(t, cfg)
	r.cfg.Watch = func(policies.Time, int, *engine.Action) {
		if err := r.nodes[0].e.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.passes(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func newRun(t *testing.T, cfg Config) *run {
	t.Helper()
	r := &run{cfg: cfg, now: epoch, random: rand.New(rand.NewPCG(cfg.Seed, 1))}
	n, err := newNode(0, &cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.nodes = []*node{n}
	return r
}

func TestSeveralNodes(t *testing.T) {
	for _, name := range placement.Names() {
		t.Run(name, func(t *testing.T) {
			var err error
			cfg := config("cidre", random(6, 3000))
			cfg.Nodes, cfg.PoolMB = 4, 500
			if cfg.Placer, err = placement.New(name, 1); err != nil {
				t.Fatal(err)
			}
			seen := map[int]int{}
			cfg.Records = func(r *Record) error { seen[r.Node]++; return nil }
			res := mustRun(t, cfg)
			if res.Served != 3000 || len(seen) != 4 {
				t.Errorf("served %d on %d nodes", res.Served, len(seen))
			}
		})
	}
}

func TestBadConfigurations(t *testing.T) {
	w := random(1, 10)
	tests := map[string]func(*Config){
		"no workload":   func(c *Config) { c.Workload.Open = nil },
		"no policy":     func(c *Config) { c.Policy = nil },
		"no node":       func(c *Config) { c.Nodes = 0 },
		"no placer":     func(c *Config) { c.Nodes = 2 },
		"no pool":       func(c *Config) { c.PoolMB = 0 },
		"probability":   func(c *Config) { c.Faults.Die = 1.5 },
		"probabilities": func(c *Config) { c.Faults.StartHost, c.Faults.StartLambda = 0.6, 0.6 },
		"negative time": func(c *Config) { c.Destroy = -1 },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := config("cidre", w)
			spoil(&cfg)
			if _, err := Run(t.Context(), cfg); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestFunctionLargerThanThePool(t *testing.T) {
	cfg := config("cidre", trace.FromSlice("x", 0, []trace.Profile{{Name: "big", MB: 3000}}, nil))
	var large *TooLargeError
	if _, err := Run(t.Context(), cfg); !errors.As(err, &large) || large.Function != "big" {
		t.Errorf("got %v", err)
	}
}

func TestCancelEndsARun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg := config("cidre", random(7, 20_000))
	cfg.Progress = func(int64) { cancel() }
	if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The first pass warms: a second replay of one call finds its sandbox.
func TestWarmup(t *testing.T) {
	w := trace.FromSlice("one", time.Minute, []trace.Profile{{Name: "f", MB: 100, Cold: time.Second}},
		[]trace.Invocation{{At: 0, Exec: time.Second}})
	cfg := config("lru", w)
	if res := mustRun(t, cfg); res.Arrived != 1 || res.Warm != 1 || res.Starts != 0 || res.IdleGBs == 0 {
		t.Errorf("after a warm-up: %+v", res)
	}
	cfg.Warmup = false
	if res := mustRun(t, cfg); res.Arrived != 1 || res.Cold != 1 || res.Starts != 1 || res.MaxWait != 1000 || res.Overhead != 0.5 {
		t.Errorf("without: %+v", res)
	}
}

// By hand: 100 MB, started at 0, ready at 1 s, runs to 2 s, idles to 60 s.
func TestIntegrals(t *testing.T) {
	w := trace.FromSlice("one", time.Minute, []trace.Profile{{Name: "f", MB: 100, Cold: time.Second}},
		[]trace.Invocation{{At: 0, Exec: time.Second}})
	cfg := config("lru", w)
	cfg.Warmup = false
	res := mustRun(t, cfg)
	if want := 0.1 * 58; !near(res.IdleGBs, want) {
		t.Errorf("idle %v GB s, want %v", res.IdleGBs, want)
	}
	if want := 0.1 * 60; !near(res.UsedGBs, want) || !near(res.MeanMB, 100) || res.PeakMB != 100 {
		t.Errorf("used %v GB s, mean %v MB, peak %v MB", res.UsedGBs, res.MeanMB, res.PeakMB)
	}
	if len(res.Memory) != 60 || res.Memory[30] != (MemoryPoint{30, 100}) {
		t.Errorf("memory over time: %v", res.Memory)
	}
}

func near(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }

func TestSeriesMerges(t *testing.T) {
	var s series
	for i := range 4 * maxBuckets {
		s.add(time.Duration(i)*time.Second, time.Duration(i+1)*time.Second, int64(i/(2*maxBuckets)))
	}
	points := s.points(4 * maxBuckets * time.Second)
	if len(points) > maxBuckets || points[0].MB != 0 || points[len(points)-1].MB != 1 || s.width != 4*time.Second {
		t.Errorf("%d points of %v, first %v, last %v", len(points), s.width, points[0], points[len(points)-1])
	}
}

// A hook's error ends the run and is returned.
func TestRecordError(t *testing.T) {
	boom := errors.New("disk full")
	cfg := config("lru", random(8, 100))
	cfg.Records = func(*Record) error { return boom }
	if _, err := Run(t.Context(), cfg); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
}

func TestEventHeapOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var h eventHeap
	for range 1000 {
		h.push(event{at: policies.Time(r.IntN(50))})
	}
	last := h.pop()
	for len(h.a) > 0 {
		e := h.pop()
		if e.before(&last) {
			t.Fatalf("%d/%d after %d/%d", e.at, e.seq, last.at, last.seq)
		}
		last = e
	}
}
