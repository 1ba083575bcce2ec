package repro

import (
	"fmt"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/trace"
)

// mapped is a map on which a policy has the given overhead (%) in a cell; the second
// seed has half a point more, and so no difference has a spread.
func mapped(of func(c place, policy int) float64) *Data {
	d := &Data{Scene: Scene{Azure: "azure-like", FC: "fc-like", Seeds: Seeds(2)}, Cells: map[Point]*Measured{}}
	for _, c := range places() {
		for k, p := range mapPolicies() {
			for _, seed := range d.Seeds {
				at := c.point(d.Scene, p.policy)
				at.Seed = seed
				d.Cells[at] = &Measured{Point: at, Result: &sim.Result{Overhead: (of(c, k) + 0.5*float64(seed)) / 100}}
			}
		}
	}
	return d
}

// CIDRE wins but for bursts of 20, where LRU and TTL are 3 points below it with cold
// starts of 50 ms and BSS 5 points below it with those of 3,200.
func TestRobustnessSaysWhereCIDRELoses(t *testing.T) {
	d := mapped(func(c place, k int) float64 {
		switch {
		case k == mapCIDRE:
			return 10
		case c.burst == 20 && c.cold == 50 && k < 2:
			return 7
		case c.burst == 20 && c.cold == 3200 && k == mapBSS:
			return 5
		}
		return 20
	})
	r, err := drawRobustness(d)
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(r.Text, "\n")
	for _, want := range []string{
		"Of 48 cells, CIDRE has the least overhead of the paper's policies in 42",
		"above a keep-alive policy (TTL, LRU or FaasCache) in 3 cells (bursts of 20: 3; cold starts of 50 ms: 3; memory 2x: 1, 3.5x: 1, 6x: 1), by 3.0 points at most, than LRU",
		"above CIDRE_BSS in 3 cells",
		"nowhere significantly above cidre+",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("it lacks %q:\n%s", want, told)
		}
	}
	cells := r.Charts[0].Map.Panels[0].Cells
	if got := fmt.Sprint(cells[0][3].Lines, cells[3][3].Lines, cells[0][0].Lines); got != "[[L 3.0] [B 5.0] [C 0.0]]" && got != "[L 3.0] [B 5.0] [C 0.0]" {
		t.Errorf("cells say %s", got)
	}
	if cells[0][3].Shade <= cells[0][0].Shade || cells[3][3].Shade <= cells[0][3].Shade {
		t.Error("the shade does not follow the distance")
	}
}

// With one seed nothing is said to be significant.
func TestRobustnessOfOneSeed(t *testing.T) {
	d := mapped(func(c place, k int) float64 { return float64(20 - k) })
	d.Seeds = d.Seeds[:1]
	r, err := drawRobustness(d)
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(r.Text[:len(r.Text)-1], "\n")
	if strings.Contains(told, "significantly") || !strings.Contains(told, "in 48 (one seed: no interval") {
		t.Error(told)
	}
	if row := r.Tables[0].Rows[0]; row.Key[2] != "least (% of cells; one seed: no interval)" || row.Ours.Mean != 0 {
		t.Errorf("%+v", row)
	}
	for _, s := range standings(d, mapPapers) {
		if s.tied(0) || !s.tied(mapCIDRE) {
			t.Errorf("%v: LRU is 4 points behind, and tied", s.place)
		}
	}
}

// What is named by the map's points can be opened.
func TestRobustnessWorkloadsExist(t *testing.T) {
	for _, c := range places() {
		w, err := FindWorkload(c.point(QuickScene(), "lru").Workload)
		if err != nil || w.Source.Synthetic == nil || w.Source.Calibration != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		workload, policy, figure string
		gb                       float64
		want                     bool
	}{
		{"azure-like", "lru", trace.Overhead, 100, true},
		{"azure-like", "cidre-literal", trace.Overhead, 100, true},
		{"azure-like", "lru", trace.Overhead, 80, false},
		{"azure-like", "lru", trace.Cold, 100, false},
		{"azure-like", "offline", trace.Overhead, 100, false},
		{"azure-like-faascache", "faascache", trace.Cold, 100, true},
		{"azure-like-faascache", "lru", trace.Overhead, 100, false},
		{"fc-like-faascache", "faascache", trace.Overhead, 100, true},
		{"s2-sigma1", "lru", trace.Overhead, 100, false},
		{"./nothing.json", "lru", trace.Overhead, 100, false},
	} {
		if got := fits(c.workload, c.policy, c.figure, c.gb); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestPaperTarget(t *testing.T) {
	got, err := PaperTarget("azure", "cidre", trace.Overhead, 100)
	if err != nil || got.Paper != 27.5 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range []struct {
		sample, policy, figure string
		gb                     float64
	}{{"azure", "cidre+", trace.Overhead, 100}, {"azure", "cidre", trace.Overhead, 90}, {"gcp", "cidre", trace.Cold, 100}, {"azure", "lru", trace.Cold, 100}} {
		if _, err := PaperTarget(c.sample, c.policy, c.figure, c.gb); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
