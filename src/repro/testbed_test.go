package repro

import (
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/replay"
	"github.com/open-lambda/open-lambda/src/trace"
)

// The part of azure-like that the testbed plays has its rate, and its memory
// the functions' share of 100 GB.
func TestBedIsInProportion(t *testing.T) {
	b := NewBed(33, 100, time.Minute, 1)
	w, err := b.Workload()
	if err != nil {
		t.Fatal(err)
	}
	functions, all, err := trace.Collect(w)
	if err != nil {
		t.Fatal(err)
	}
	if len(functions) != 33 || len(all) != 1993 || b.PoolMB != 3333 {
		t.Errorf("%d functions, %d requests, %d MB a node", len(functions), len(all), b.PoolMB)
	}
}

// bedRuns are made up: each policy is better than the one before it.
func bedRuns(seeds int) []BedRun {
	var runs []BedRun
	for i, policy := range BedPolicies() {
		for seed := range seeds {
			bed := NewBed(33, 100, time.Minute, uint64(seed+1))
			bed.Scale = 2
			at := func(ms int) replay.Distribution {
				return replay.Distribution{P50: time.Duration(2*(ms-10*i)+seed) * time.Millisecond}
			}
			runs = append(runs, BedRun{
				Bed: bed, Build: []string{"one", "two", "judge"}[seed], Policy: policy, Predicted: replay.Prediction{Requests: 120, Rejected: 20, Cold: 50, Warm: 50, OverheadRatio: 0.5},
				Summary: replay.Summary{
					Requests: 100, Cold: 60 - 10*i, Delayed: 10 * i, Warm: 40, OverheadRatio: 0.6 - 0.1*float64(i) + 0.001*float64(seed),
					Overhead: at(100), Latency: at(300),
				},
			})
		}
	}
	return runs
}

// Runs of real sandboxes are drawn beside the simulated ones, and judged; times
// are the workload's own.
func TestTestbedIsDrawnAndJudged(t *testing.T) {
	o, d, err := Testbed(bedRuns(2), "judge")
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Judged) != 11 {
		t.Errorf("%d claims", len(o.Judged))
	}
	for _, j := range o.Judged[:10] {
		if j.Verdict != Pass || j.Measured.N != 2 {
			t.Errorf("%s: %s, %s", j.Text, j.Verdict, j.Value)
		}
	}
	if s := newSection(&o, d, nil); s.Label() != "its own, by build judge, from replays of one and two" {
		t.Errorf("programs: %s", s.Label())
	}
	dir := t.TempDir()
	if err := Write(dir, []Outcome{o}, d); err != nil {
		t.Fatal(err)
	}
	md := string(read(t, dir, "testbed", "testbed.md"))
	for _, want := range []string{
		"3 workers behind a boss", "| CIDRE | real sandboxes | 20.0 ± ", "| FaasCache | simulated | 50.0 | 44.6 | +5.4 |",
		"| TTL | real sandboxes | 100 ± ", "| LRU | failed (%) | 0.0 |",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
	if !strings.Contains(string(read(t, dir, "index.html")), `id="testbed"`) {
		t.Error("the page lacks the testbed")
	}
}

// No verdict rests on runs whose requests failed, came late, or had the machine
// busy; claims about other policies stand.
func TestUnsoundRunsDecideNothing(t *testing.T) {
	for _, spoil := range []struct {
		why string
		do  func(*BedRun)
	}{
		{"2.0 % of the requests under CIDRE failed", func(r *BedRun) { r.Summary.Errors = 2 }},
		{"a drift of 15 %", func(r *BedRun) { r.Drift = 0.15 }},
		{"the processors were 95 % busy under CIDRE", func(r *BedRun) { r.Usage.CPUShare = 0.95 }},
	} {
		runs := bedRuns(2)
		for i := range runs {
			if runs[i].Policy == "cidre" && runs[i].Bed.Seed == 2 {
				spoil.do(&runs[i])
			}
		}
		o, _, err := Testbed(runs, "judge")
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range o.Judged {
			about := strings.HasPrefix(j.Text, "CIDRE has") || strings.HasPrefix(j.Text, "CIDRE is") || strings.HasPrefix(j.Text, "CIDRE reduces")
			if spoiled := j.Verdict == NotTestable; spoiled != about || spoiled && !strings.Contains(j.Why, spoil.why) {
				t.Errorf("%s: %s: %s, %s", spoil.why, j.Text, j.Verdict, j.Why)
			}
		}
	}
}

// A run is found again by all that was chosen, and by nothing else.
func TestBedsAreKept(t *testing.T) {
	b := &Beds{Dir: t.TempDir(), Build: "one"}
	bed := NewBed(24, 100, 2*time.Minute, 1)
	run := BedRun{Bed: bed, Build: "one", Policy: "ttl"}
	run.Bed.Scale = 2.5
	if err := b.Keep(run); err != nil {
		t.Fatal(err)
	}
	if got, ok := b.Load(bed, "ttl"); !ok || got.Bed.Scale != 2.5 {
		t.Errorf("an open scale finds %v, %v", ok, got.Bed)
	}
	for name, change := range map[string]func(*Beds, *Bed){
		"functions": func(_ *Beds, bed *Bed) { *bed = NewBed(12, 100, 2*time.Minute, 1) },
		"memory":    func(_ *Beds, bed *Bed) { *bed = NewBed(24, 80, 2*time.Minute, 1) },
		"span":      func(_ *Beds, bed *Bed) { bed.Span = time.Minute },
		"seed":      func(_ *Beds, bed *Bed) { bed.Seed = 2 },
		"scale":     func(b *Beds, bed *Bed) { b.Chosen, bed.Scale = true, 4 },
		"build":     func(b *Beds, _ *Bed) { b.Build = "other" },
	} {
		other, of := *b, bed
		change(&other, &of)
		if _, ok := other.Load(of, "ttl"); ok {
			t.Errorf("another %s finds the run", name)
		}
		if name == "build" { // what it keeps takes the place
			continue
		}
		if err := other.Keep(BedRun{Bed: of, Build: other.Build, Policy: "ttl"}); err != nil {
			t.Fatal(err)
		}
		if _, ok := b.Load(bed, "ttl"); !ok {
			t.Errorf("another %s replaces the run", name)
		}
	}
	// A run that ended early leaves the requests of a complete one alone.
	if err := b.KeepRequests(bed, "ttl", []byte("whole"), true); err != nil {
		t.Fatal(err)
	}
	if err := b.KeepRequests(bed, "ttl", []byte("half"), false); err != nil {
		t.Fatal(err)
	}
	if got := string(read(t, b.Dir, b.Name(bed, "ttl")+"-requests.csv")); got != "whole" {
		t.Errorf("the requests of a complete run are %q", got)
	}
	any := Beds{Dir: b.Dir, Build: "other", AnyBuild: true}
	if _, ok := any.Load(bed, "ttl"); !ok {
		t.Error("any build does not find the run of another")
	}
}
