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
	b := NewBed(33, time.Minute, 1)
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

// Runs of real sandboxes are drawn beside the simulated ones, and judged.
func TestTestbedIsDrawnAndJudged(t *testing.T) {
	var runs []BedRun
	for i, policy := range BedPolicies() {
		for seed := range 2 {
			runs = append(runs, BedRun{
				Bed: NewBed(33, time.Minute, uint64(seed)), Policy: policy,
				Summary:   replay.Summary{Requests: 100, Cold: 60 - 10*i, Delayed: 10 * i, Warm: 40, OverheadRatio: 0.6 - 0.1*float64(i) + 0.001*float64(seed)},
				Predicted: replay.Prediction{Requests: 100, Cold: 50, Warm: 50, OverheadRatio: 0.5},
			})
		}
	}
	o, d, err := Testbed(runs)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range o.Judged[:7] {
		if j.Verdict != Pass || j.Measured.N != 2 {
			t.Errorf("%s: %s, %s", j.Text, j.Verdict, j.Value)
		}
	}
	dir := t.TempDir()
	if err := Write(dir, []Outcome{o}, d); err != nil {
		t.Fatal(err)
	}
	md := string(read(t, dir, "testbed", "testbed.md"))
	for _, want := range []string{"3 workers behind a boss", "| CIDRE | real sandboxes | 20.0 ± ", "| FaasCache | simulated | 50.0 | 44.6 | +5.4 |"} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
	if !strings.Contains(string(read(t, dir, "index.html")), `id="testbed"`) {
		t.Error("the page lacks the testbed")
	}
}
