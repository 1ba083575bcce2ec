package repro

import (
	"slices"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/src/sim"
)

// The verdict on a cause follows from the seeds in pairs: it moved as said, against
// it, or not by more than the interval. One seed has none.
func TestJudgeCause(t *testing.T) {
	e := experiments()[0]
	for _, c := range []struct {
		name    string
		delayed []float64 // of the experiment, by seed; the base has 0.1 and 0.2
		want    string
	}{
		{"as said", []float64{0.3, 0.41}, ": as the cause says."},
		{"against it", []float64{0.05, 0.15}, ": against what the cause says."},
		{"both ways", []float64{0.3, 0.05}, ": undecided."},
		{"one seed", []float64{0.3}, ": undecided (one seed: no interval)."},
	} {
		d := &Data{Scene: Scene{Azure: "azure-like", FC: "fc-like", Seeds: Seeds(len(c.delayed))}, Cells: map[Point]*Measured{}}
		for i, seed := range d.Seeds {
			for at, share := range map[Point]float64{
				e.compared.point(d.Scene, "cidre"): []float64{0.1, 0.2}[i], e.there.point(d.Scene, "cidre"): c.delayed[i],
			} {
				at.Seed = seed
				d.Cells[at] = &Measured{Point: at, Result: &sim.Result{DelayedRatio: share, ColdRatio: 0.5 - share}}
			}
		}
		if got := judgeCause(d, e); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// Two policies of one workload are compared as such.
func TestJudgeCauseOfTwoPolicies(t *testing.T) {
	cidre, bss, _, _ := comparedPolicies()
	at := mapSpot(20)
	d := &Data{Scene: Scene{Azure: "azure-like", FC: "fc-like", Seeds: Seeds(2)}, Cells: map[Point]*Measured{}}
	for policy, starts := range map[string]int64{cidre.policy: 60, bss.policy: 80} {
		for _, seed := range d.Seeds {
			p := at.point(d.Scene, policy)
			p.Seed = seed
			d.Cells[p] = &Measured{Point: p, Result: &sim.Result{Starts: starts + int64(seed), Cold: 60, Delayed: 40}}
		}
	}
	got := judgeCause(d, instead("P", "it saves starts", at, startsOf(cidre), startsOf(bss), false))
	for _, want := range []string{"grid-20-200", `"CIDRE: sandboxes`, `is less than "CIDRE_BSS: sandboxes`, "From 81.5 ± 6.4 to 61.5 ± 6.4, by -20.0: as the cause says."} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// Every experiment is on workloads that can be made, changes something, and has a row
// for each of its sides.
func TestExperimentsExist(t *testing.T) {
	for _, e := range experiments() {
		for _, side := range []seen{e.there, e.compared} {
			w, err := FindWorkload(side.workload)
			if err != nil || w.Source.Synthetic == nil {
				t.Errorf("%s: %v", side.workload, err)
			}
			if !slices.Contains(causeSpots(), side.spot) || !slices.ContainsFunc(effectsAt(side.spot), func(f effect) bool { return f.name == side.name }) {
				t.Errorf("%q has no row at %+v", side.name, side.spot)
			}
		}
		if e.letter == "" || e.there.spot == e.compared.spot && e.there.name == e.compared.name {
			t.Errorf("%s %s changes nothing", e.letter, e.what)
		}
	}
}
