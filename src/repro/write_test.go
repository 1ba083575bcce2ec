package repro

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/open-lambda/open-lambda/src/repro/plot"
)

// wrote reproduces figures from invented results and writes them.
func wrote(t *testing.T, dir string, s Scene, build string, ids ...string) []Outcome {
	t.Helper()
	d := invented(s)
	d.Build = build
	for _, m := range d.Cells {
		m.Build = build
	}
	var figures []Figure
	for _, id := range ids {
		f, ok := Find(id)
		if !ok {
			t.Fatalf("no figure %s", id)
		}
		figures = append(figures, f)
	}
	all, err := Reproduce(figures, d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].drawn = Cost{} // it differs
	}
	if err := Write(dir, all, d); err != nil {
		t.Fatal(err)
	}
	return all
}

// files reads a directory of results.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func table(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(string(read(t, path)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = r[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// smallScene is quick with two seeds.
func smallScene() Scene {
	s := QuickScene()
	s.Seeds = Seeds(2)
	return s
}

// What is written again is the same to the byte, however maps are walked.
func TestWritingAgainChangesNothing(t *testing.T) {
	dir := t.TempDir()
	ids := []string{"fig14", "table2", "causes", "robustness"} // marks, bars, text, a map
	wrote(t, dir, smallScene(), "a", ids...)
	before := files(t, dir)
	wrote(t, dir, smallScene(), "a", ids...)
	after := files(t, dir)
	for name := range after {
		if after[name] != before[name] {
			t.Errorf("%s changes", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, then %d", len(before), len(after))
	}
}

// Nothing of what any figure is written from depends on how maps are walked.
func TestReproducingAgainChangesNothing(t *testing.T) {
	d := invented(smallScene())
	first, err := Reproduce(Figures(), d)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := Reproduce(Figures(), d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range again {
			if diff := cmp.Diff(first[i].Report, again[i].Report, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("%s: %s", first[i].ID, diff)
			}
			if diff := cmp.Diff(first[i].Judged, again[i].Judged); diff != "" {
				t.Errorf("%s: %s", first[i].ID, diff)
			}
		}
	}
}

// The paper's values stand under the name of the series that they are drawn for, and
// everything that is drawn is there, as numbers.
func TestCurvesHaveWhatIsDrawn(t *testing.T) {
	all, err := Reproduce(Figures(), invented(smallScene()))
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]map[string]bool{} // chart, names of series
	for _, o := range all {
		for _, c := range o.Charts {
			rows := curveRows([]Drawing{c})[1:]
			if len(rows) == 0 {
				t.Errorf("nothing is said of %s", c.Name)
			}
			theirs[c.Name] = map[string]bool{}
			for _, r := range rows {
				if r[1] == "" || strings.Contains(strings.Join(r, " "), "NaN") {
					t.Fatalf("%v", r)
				}
				if r[2] == "true" {
					theirs[c.Name][r[1]] = true
				}
			}
		}
	}
	for chart, want := range map[string][]string{
		"fig2a":  {"1 ms per MB", "2 ms per MB", "3 ms per MB"},
		"fig5a":  {"cold start", "waiting"},
		"fig9":   {"cold start x0.25", "cold start x0.5", "cold start x0.75", "cold start x1"},
		"fig14":  {"BSS off", "BSS on"},
		"fig16a": {"CIDRE", "CIDRE_BSS", "FaasCache", "RainbowCake"},
	} {
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(theirs[chart]))); diff != "" {
			t.Errorf("%s: %s", chart, diff)
		}
	}
	// Each of the paper's policies has marks of its own in Fig. 13: once they all were Offline's.
	if names := theirs["fig13a"]; len(names) != 11 || !names["FaasCache"] || names["CIDRE literal"] {
		t.Errorf("the paper's in Fig. 13 (a): %v", names)
	}
}

func TestCurveRowsOfEveryKind(t *testing.T) {
	nan := math.NaN()
	got := curveRows([]Drawing{
		{"line", plot.Chart{Series: []plot.Series{
			{Name: "A", X: []float64{1, 2, nan}, Y: []float64{3, nan, 4}, Half: []float64{0.5, 0, 0}},
			{Data: "A", X: []float64{1}, Y: []float64{7}, Hollow: true},
		}}},
		{"bars", plot.Chart{Y: plot.Axis{Label: "high\n(%)"}, Bars: &plot.Bars{
			Groups: []string{"g"}, Bars: []string{""}, Parts: []string{""}, Value: [][][]float64{{{5}}}, Half: [][]float64{{2}}, Paper: [][][]float64{{{nan}}},
		}}},
		{"stack", plot.Chart{Bars: &plot.Bars{
			Groups: []string{"g"}, Bars: []string{"F"}, Data: []string{"Full"}, Parts: []string{"cold", "warm"},
			Value: [][][]float64{{{5, 6}}}, Paper: [][][]float64{{{4, nan}}},
		}}},
		{"map", plot.Chart{Map: &plot.Map{
			Columns: []string{"c"}, Rows: []string{"r"}, Panels: []plot.Panel{{Title: "p", Cells: [][]plot.MapCell{{{Lines: []string{"L~", "1.0"}}}}}},
		}}},
		{"lane", plot.Chart{Lanes: &plot.Lanes{
			Kinds:  []plot.LaneKind{{Name: "busy"}},
			Panels: []plot.LanePanel{{Title: "p", Lanes: []plot.Lane{{Name: "C0", Spans: []plot.LaneSpan{{From: 1, To: 2, Text: "R0", Wait: 0.5}}}}}},
		}}},
	})
	want := [][]string{
		{"chart", "series", "paper", "x", "y", "half_width", "text"},
		{"line", "A", "false", "1", "3", "0.5", ""},
		{"line", "A", "true", "1", "7", "", ""},
		{"bars", "high (%)", "false", "g", "5", "2", ""},
		{"stack", "Full, cold", "false", "g", "5", "", ""},
		{"stack", "Full, warm", "false", "g", "6", "", ""},
		{"stack", "Full, cold", "true", "g", "4", "", ""},
		{"map", "p", "false", "c", "r", "", "L~ 1.0"},
		{"lane", "p, C0", "false", "1", "2", "", "busy; R0; waited 0.5 ms"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A second run is refused while the first one has the directory; what an interrupted one
// left half written is removed, and a dead one holds nothing.
func TestHold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	hold, err := Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	cells := filepath.Join(dir, "cells")
	if err := os.Mkdir(cells, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, cells} {
		for _, name := range []string{unfinished + "1", "whole"} {
			if err := os.WriteFile(filepath.Join(at, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err = Hold(dir)
	var held *HeldError
	if !errors.As(err, &held) || held.Dir != dir {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(cells, unfinished+"1")); err != nil {
		t.Errorf("who was refused removed what the other one writes: %v", err)
	}
	if err := hold.Close(); err != nil {
		t.Fatal(err)
	}
	if hold, err = Hold(dir); err != nil {
		t.Fatal(err)
	}
	defer hold.Close() //nolint:errcheck // in a test
	if diff := cmp.Diff([]string{"/.lock", "/cells/whole", "/whole"}, slices.Sorted(maps.Keys(files(t, dir)))); diff != "" {
		t.Error(diff)
	}
}

// A run that measures does not remove what another one is writing beside it.
func TestRunLeavesUnfinishedFiles(t *testing.T) {
	cells := newCells(t, "a")
	if err := os.MkdirAll(cells.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(cells.Dir, unfinished+"other")
	if err := os.WriteFile(other, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), nil, cells, 1, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// Scenes can be read back from what was written.
func TestSceneIsKept(t *testing.T) {
	dir := t.TempDir()
	wrote(t, dir, smallScene(), "a", "table1")
	var f claimsFile
	if err := json.Unmarshal(read(t, dir, claimsName), &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Sections) != 1 || f.Sections[0].Own || f.Sections[0].Name != "quick, 2 seed(s)" || f.Sections[0].Build != "a" {
		t.Fatalf("%+v", f.Sections)
	}
	if diff := cmp.Diff(smallScene(), f.Sections[0].Scene); diff != "" {
		t.Error(diff)
	}
	for _, r := range table(t, filepath.Join(dir, "claims.csv")) {
		if r["scene"] != "quick, 2 seed(s)" {
			t.Errorf("%v", r)
		}
	}
}
