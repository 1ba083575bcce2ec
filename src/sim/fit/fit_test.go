package fit

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/src/trace"
)

// small is a workload of which a plan can be evaluated in milliseconds.
func small() trace.Synthetic {
	s := trace.AzureLike()
	s.Functions, s.Requests, s.Span = 20, 4000, time.Minute
	return s
}

// smallPlan aims at what another workload comes to, so that the targets can be
// reached.
func smallPlan(t *testing.T) *Plan {
	t.Helper()
	p := &Plan{
		Start: small(), Free: []string{"burst", "zipf_s", "even"}, Seeds: []uint64{1}, Evaluations: 25, Parallel: 1,
		Targets: []trace.Target{{Policy: "faascache", Figure: trace.Overhead, GB: 9}, {Policy: "cidre", Figure: trace.Cold, GB: 9}},
	}
	hidden := small()
	hidden.Burst, hidden.ZipfS, hidden.Even = 6, 0.9, 0.1
	m, err := p.Measure(t.Context(), hidden, 0, p.Seeds)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Targets {
		p.Targets[i].Paper = m.Values[i].Mean
	}
	return p
}

func TestSearchComesNearer(t *testing.T) {
	p := smallPlan(t)
	before, err := p.Measure(t.Context(), p.Start, 0, p.Seeds)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	found, err := p.Search(t.Context(), &Log{}, nil, func(n int, _ float64) { calls = n })
	if err != nil {
		t.Fatal(err)
	}
	if first := p.loss(means(before)); found.Loss >= first/2 {
		t.Errorf("loss %v, at first %v", found.Loss, first)
	}
	if found.Evaluations != calls || calls > p.Evaluations || found.Ended == "" {
		t.Errorf("%+v after %d evaluations", found, calls)
	}
	if found.Synthetic.GapShape != p.Start.GapShape {
		t.Error("a parameter that is not free was changed")
	}
	after, err := p.Measure(t.Context(), found.Synthetic, 0, p.Seeds)
	if err != nil || math.Abs(p.loss(means(after))-found.Loss) > 1e-12 || len(after.Hashes) != 2 {
		t.Errorf("it comes to %v, %v", after, err)
	}
}

// A fit that was interrupted goes on and finds what it would have found, without
// evaluating anything twice. A line that was cut short does not count.
func TestSearchGoesOn(t *testing.T) {
	p := smallPlan(t)
	p.Evaluations = 12
	want, err := p.Search(t.Context(), &Log{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "evaluations")
	ctx, cancel := context.WithCancel(t.Context())
	open := func(build string) *Log {
		l, err := p.OpenLog(path, build)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() }) //nolint:errcheck // closed before; this is for failures
		return l
	}
	l := open("a")
	_, err = p.Search(ctx, l, nil, func(n int, _ float64) {
		if n == 5 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || l.Len() != 5 {
		t.Fatalf("%v after %d evaluations", err, l.Len())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	l = open("a")
	if l.Len() != 4 {
		t.Errorf("%d evaluations are kept", l.Len())
	}
	got, err := p.Search(t.Context(), l, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if l = open("a"); l.Len() < 11 { // a point may be asked for twice
		t.Errorf("%d evaluations are kept in the end", l.Len())
	}
	if l = open("b"); l.Len() != 0 {
		t.Error("evaluations of another program count")
	}
}

func TestSearchEnds(t *testing.T) {
	p := smallPlan(t)
	found, err := p.Search(t.Context(), &Log{}, func() bool { return true }, nil)
	if err != nil || found.Ended != TimeOver || found.Evaluations != 0 || found.Synthetic != p.Start {
		t.Errorf("%+v, %v", found, err)
	}
	p.Evaluations = 3
	if found, err = p.Search(t.Context(), &Log{}, nil, nil); err != nil || found.Ended != Bounded || found.Evaluations != 3 {
		t.Errorf("%+v, %v", found, err)
	}
	p.Evaluations = 0
	if found, err = p.Search(t.Context(), &Log{}, nil, nil); err != nil || found.Synthetic != p.Start {
		t.Errorf("%+v, %v", found, err)
	}
	p.Evaluations = 30
	m, err := p.Measure(t.Context(), p.Start, 0, p.Seeds)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Targets {
		p.Targets[i].Paper = m.Values[i].Mean
	}
	if found, err = p.Search(t.Context(), &Log{}, nil, nil); err != nil || found.Ended != Reached || found.Synthetic != p.Start {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestPlanRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Plan){
		"no target":         func(p *Plan) { p.Targets = nil },
		"no seed":           func(p *Plan) { p.Seeds = nil },
		"nothing free":      func(p *Plan) { p.Free = nil },
		"unknown parameter": func(p *Plan) { p.Free = []string{"burst", "bursts"} },
		"stated parameter":  func(p *Plan) { p.Free = []string{"mem_mb"} },
		"unknown figure":    func(p *Plan) { p.Targets[0].Figure = "warm" },
		"unknown policy":    func(p *Plan) { p.Targets[0].Policy = "lirs" },
	} {
		p := smallPlan(t)
		spoil(p)
		if _, err := p.Search(t.Context(), &Log{}, nil, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
