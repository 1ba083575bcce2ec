package study

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/trace"
)

func plan(t *testing.T, parallel int, policies ...string) Plan {
	t.Helper()
	functions, err := trace.Excerpt()
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{
		Base: sim.Config{Nodes: 1}, PoolsMB: []int64{1000, 3000}, Seeds: []uint64{1, 2}, Parallel: parallel,
		Workload: func(seed uint64) (trace.Workload, error) {
			return trace.PerMinute("demo", functions, trace.Options{Minutes: 1, Seed: seed}, trace.DefaultModel())
		},
	}
	for _, text := range policies {
		policy, err := ParsePolicy(text, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		p.Policies = append(p.Policies, policy)
	}
	return p
}

// Cells come in order, and parallel runs do not disturb each other.
func TestRunIsInOrderAndDeterministic(t *testing.T) {
	policies := []string{"cidre", "ttl:ttl=30s", "offline"}
	one, err := Run(t.Context(), plan(t, 1, policies...))
	if err != nil {
		t.Fatal(err)
	}
	four, err := Run(t.Context(), plan(t, 4, policies...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, four); diff != "" {
		t.Errorf("parallel runs differ: %s", diff)
	}
	for i, c := range one {
		if c.Policy != policies[i%3] || c.PoolMB != []int64{1000, 3000}[i/3] || len(c.Runs) != 2 {
			t.Errorf("cell %d is %s with %d MB, %d runs", i, c.Policy, c.PoolMB, len(c.Runs))
		}
		if c.Runs[0].ActionHash == c.Runs[1].ActionHash {
			t.Errorf("cell %d: two seeds, one action log", i)
		}
	}
}

func TestAnErrorEndsTheStudy(t *testing.T) {
	p := plan(t, 2, "cidre")
	boom := errors.New("boom")
	p.Done = func(Key, *sim.Result) error { return boom }
	if cells, err := Run(t.Context(), p); !errors.Is(err, boom) || cells != nil {
		t.Errorf("got %v, %v", cells, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, plan(t, 2, "cidre")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestParsePolicy(t *testing.T) {
	p, err := ParsePolicy("offline-bss", time.Millisecond)
	if err != nil || !p.Future {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = ParsePolicy("lru:scaler=bss:evictor=ttl:ttl=5s", time.Millisecond)
	if err != nil || p.Future {
		t.Fatalf("%+v, %v", p, err)
	}
	made, err := p.New(nil)
	if err != nil || made.Name != "bss+ttl" {
		t.Errorf("%+v, %v", made, err)
	}
	var unknown *catalog.UnknownError
	for text, nearest := range map[string]string{"cidree": "cidre", "ttl:tll=5s": "ttl", "lru:evictor=lfru": "lru"} {
		if _, err := ParsePolicy(text, time.Millisecond); !errors.As(err, &unknown) || unknown.Nearest() != nearest {
			t.Errorf("%s: got %v", text, err)
		}
	}
	var value *catalog.ValueError
	if _, err := ParsePolicy("ttl:ttl=soon", time.Millisecond); !errors.As(err, &value) {
		t.Errorf("got %v", err)
	}
}

// By hand: mean 3, s = 1, t(2) = 4.303, half = 4.303 / sqrt 3.
func TestInterval(t *testing.T) {
	i := NewInterval([]float64{2, 3, 4})
	if i.Mean != 3 || math.Abs(i.Half-2.4843) > 1e-3 || i.N != 3 {
		t.Errorf("%+v", i)
	}
	if i := NewInterval([]float64{7}); i != (Interval{7, 0, 1}) {
		t.Errorf("%+v", i)
	}
	if i := NewInterval(nil); i != (Interval{}) {
		t.Errorf("%+v", i)
	}
	if math.Abs(student(60)-2.000) > 0.002 || math.Abs(student(1000)-1.962) > 0.002 {
		t.Errorf("t(60) = %v, t(1000) = %v", student(60), student(1000))
	}
	if !(Interval{1, 0.4, 5}).Below(Interval{2, 0.5, 5}) || (Interval{1, 0.6, 5}).Below(Interval{2, 0.5, 5}) {
		t.Error("Below is wrong")
	}
}

func TestJudge(t *testing.T) {
	cell := func(policy string, overhead ...float64) Cell {
		c := Cell{Policy: policy}
		for _, o := range overhead {
			c.Runs = append(c.Runs, &sim.Result{Overhead: o})
		}
		return c
	}
	of := func(r *sim.Result) float64 { return r.Overhead }
	// Seeds differ more than policies: only pairs tell.
	cells := []Cell{cell("a", 1, 5, 9), cell("b", 2, 6.1, 9.9), cell("c", 3, 4, 10)}
	claims := []Claim{{"a", "b", "x", "", of}, {"b", "a", "x", "", of}, {"a", "c", "x", "", of}, {"a", "nobody", "x", "", of}}
	var got []Verdict
	for _, j := range Judge(claims, cells) {
		got = append(got, j.Verdict)
	}
	if diff := cmp.Diff([]Verdict{Holds, Reversed, Undecided}, got); diff != "" {
		t.Error(diff)
	}
	if j := Judge(claims[:1], []Cell{cell("a", 1), cell("b", 2)}); j[0].Verdict != Undecided {
		t.Errorf("one seed: %+v", j)
	}
}
