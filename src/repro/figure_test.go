package repro

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
)

// invented makes results for all points without simulating: what they say does
// not matter here, only that all of it is asked for by name.
func invented(s Scene) *Data {
	d := &Data{Scene: s, Cells: map[Point]*Measured{}, brief: 1}
	for i, p := range Points(Figures(), s) {
		v := 0.05 + 0.9*math.Mod(float64(i)*0.6180339887, 1)
		c := make(Curve, curveSteps+1)
		for k := range c {
			c[k] = v * float64(k)
		}
		d.Cells[p] = &Measured{
			Point: p, Wait: c, Total: c, Delayed: c, DelayedCold: c, Sooner: v, Missed: c, MissedCold: c, MissedSooner: v, BusyMB: 1000 * v,
			Result: &sim.Result{Arrived: 10, Served: 10, Overhead: v, ColdRatio: v / 2, DelayedRatio: v / 4, WarmRatio: 1 - 3*v/4, Wait: sim.Quantiles{Mean: 100 * v}},
		}
	}
	return d
}

// Every figure can be drawn and written from what its Points name, on other
// workloads as well, and its page needs nothing from outside.
func TestEveryFigureIsWritten(t *testing.T) {
	s := QuickScene()
	s.Seeds, s.Azure = Seeds(2), "s2-sigma1"
	d := invented(s)
	all, err := Reproduce(Figures(), d)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Write(dir, all, d); err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if len(o.Judged) == 0 && !o.Beyond || len(o.Tables) == 0 {
			t.Errorf("%s has %d claims and %d tables", o.ID, len(o.Judged), len(o.Tables))
		}
		for _, c := range o.Charts {
			text := read(t, dir, o.ID, c.Name+".png")
			if _, err := png.Decode(bytes.NewReader(text)); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
			if c.Y.Label == "" && c.Lanes == nil || c.Lanes != nil && c.X.Label == "" { // lanes have names of their own
				t.Errorf("%s: an axis has no label", c.Name)
			}
		}
		if md := string(read(t, dir, o.ID, o.ID+".md")); strings.Contains(md, "## Claims") == o.Beyond || strings.Contains(md, "NaN") {
			t.Errorf("%s: its Markdown is\n%s", o.ID, md)
		}
	}
	page := string(read(t, dir, "index.html"))
	for _, outside := range []string{"<script", "<link", " src=", "@import", "url(http"} {
		if strings.Contains(page, outside) {
			t.Errorf("the page has %q", outside)
		}
	}
	for _, f := range Figures() {
		if !strings.Contains(page, `id="`+f.ID+`"`) {
			t.Errorf("the page lacks %s", f.ID)
		}
	}
}

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A value of the paper that a table compares with is there: files and names
// agree. What the paper does not have is known.
func TestThePapersValuesAreFound(t *testing.T) {
	all, err := Reproduce(Figures(), invented(Scene{Azure: "azure-like", FC: "fc-like", Seeds: Seeds(1)}))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if o.Beyond || o.ID == "fig4" { // the paper's Fig. 4 has no numbers
			continue
		}
		for _, table := range o.Tables {
			found := 0
			for _, r := range table.Rows {
				if !math.IsNaN(r.Paper) {
					found++
				} else if !lacking(o.ID, r) {
					t.Errorf("%s: the paper has no value for %v", o.ID, r.Key)
				}
			}
			if found == 0 {
				t.Errorf("%s: %s compares with nothing", o.ID, table.Title)
			}
		}
	}
}

// lacking tells whether the paper has no such value.
func lacking(id string, r Row) bool {
	key := strings.Join(r.Key, " ")
	switch {
	case strings.Contains(key, "cidre+"):
		return true
	case id == "table1":
		return strings.Contains(key, "azure-like")
	case id == "sec2.6":
		return !strings.Contains(key, "25 %")
	case id == "fig21": // FaasCache and CIDRE only
		return strings.Contains(key, "CIDRE_BSS")
	case id == "table2": // only CIDRE delays
		return strings.Contains(key, "delayed") && !strings.Contains(key, "CIDRE")
	}
	return false
}

// Known values, by hand from the paper's text.
func TestPaperValues(t *testing.T) {
	for _, c := range []struct {
		file, column string
		key          []string
		want         float64
	}{
		{"fig12bd", "cold_pct", []string{"workload", "azure", "policy", "FaasCache", "memory_gb", "100"}, 74.4},
		{"fig12ac", "avg_overhead_ratio_pct", []string{"workload", "azure", "policy", "CIDRE", "memory_gb", "100"}, 27.5},
		{"fig15", "avg_overhead_ratio_pct", []string{"configuration", "CSS_alone"}, 29.4},
		{"fig20", "avg_overhead_ms", []string{"policy", "CIDRE", "exec_factor", "1.5"}, 90},
		{"fig20", "delayed_pct", []string{"policy", "LRU", "exec_factor", "1"}, math.NaN()},
		{"fig21", "nothing", []string{"policy", "CIDRE"}, math.NaN()},
	} {
		table, err := paper(c.file)
		if err != nil {
			t.Fatal(err)
		}
		if got := table.value(c.column, c.key...); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s %v: %v, want %v", c.file, c.key, got, c.want)
		}
	}
	if _, err := paper("fig99"); err == nil {
		t.Error("fig99 was found")
	}
}

func TestFind(t *testing.T) {
	for word, want := range map[string]string{
		"fig12": "fig12", "fig12a": "fig12", "12": "fig12", "Fig. 7": "fig7", "figure 21": "fig21", "table2": "table2",
		"sec2.6": "sec2.6", "section 5.4": "sec5.4", "fig1": "", "fig12e": "", "fig": "", "": "", "99": "",
	} {
		if f, _ := Find(word); f.ID != want {
			t.Errorf("%q: %q, want %q", word, f.ID, want)
		}
	}
	var both []Figure
	for _, word := range []string{"fig21", "fig12", "fig12b"} {
		f, _ := Find(word)
		both = append(both, f)
	}
	if got := fmt.Sprint(IDs(InOrder(both))); got != "[fig12 fig21]" {
		t.Errorf("in order: %s", got)
	}
}

// Every policy that a figure or an order speaks of can be made.
func TestPoliciesExist(t *testing.T) {
	known := map[string]bool{}
	for _, p := range Points(Figures(), FullScene()) {
		known[p.Policy] = true
	}
	for _, c := range Orderings() {
		known[c.Less], known[c.More] = true, true
	}
	for policy := range known {
		if _, err := study.ParsePolicy(policy, time.Millisecond); err != nil {
			t.Error(err)
		}
	}
}
