package repro

import (
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/src/sim"
)

// The verdict on a cause follows from the seeds in pairs: it moved as said, against
// it, or not by more than the interval.
func TestJudgeCause(t *testing.T) {
	e := experiments()[1]
	for _, c := range []struct {
		name    string
		delayed [2]float64 // of the experiment, by seed; the base has 0.1 and 0.2
		want    string
	}{
		{"as said", [2]float64{0.3, 0.41}, ": as the cause says."},
		{"against it", [2]float64{0.05, 0.15}, ": against what the cause says."},
		{"both ways", [2]float64{0.3, 0.05}, ": undecided."},
	} {
		d := &Data{Scene: Scene{Azure: "azure-like", FC: "fc-like", Seeds: Seeds(2)}, Cells: map[Point]*Measured{}}
		for i, seed := range d.Seeds {
			for at, share := range map[Point]float64{
				experiments()[0].at(d.Scene, "cidre"): []float64{0.1, 0.2}[i], e.at(d.Scene, "cidre"): c.delayed[i],
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

// Every experiment is on a workload that can be made, and says what should follow.
func TestExperimentsExist(t *testing.T) {
	for _, e := range experiments() {
		w, err := FindWorkload(e.workload)
		if err != nil || w.Source.Synthetic == nil {
			t.Errorf("%s: %v", e.workload, err)
		}
		if e.letter != "" && (e.follows.of == nil || w.Source.Calibration != nil && e.gb == defaultGB) {
			t.Errorf("%+v changes nothing", e)
		}
	}
}
