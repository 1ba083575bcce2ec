package repro

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/src/replay"
)

func warnings(t *testing.T, dir string) string {
	t.Helper()
	g, err := Gather(dir)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(g.Warnings(), "\n")
}

// Figures of one directory that were not made alike are told apart in every output, and are
// not put in one column.
func TestMixturesAreTold(t *testing.T) {
	other := smallScene()
	other.Azure = "s2-sigma1"
	for name, c := range map[string]struct {
		scene Scene
		build string
		want  string
		csv   string
	}{
		"full":        {FullScene(), "a", "figures are of different scenes: quick, 2 seed(s) (table1); full (fig8)", "full"},
		"other azure": {other, "a", "quick, Azure: s2-sigma1, 2 seed(s) (fig8)", "quick, Azure: s2-sigma1, 2 seed(s)"},
		"other build": {smallScene(), "b", "judged by different builds of ol: a (table1); b (fig8)", "quick, 2 seed(s), by build b"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			wrote(t, dir, smallScene(), "a", "table1")
			if w := warnings(t, dir); w != "" {
				t.Errorf("nothing is mixed: %s", w)
			}
			wrote(t, dir, c.scene, c.build, "fig8")
			_, err := ReadJudgement("x", dir)
			var mixed *MixedError
			if !errors.As(err, &mixed) || !strings.Contains(err.Error(), c.want) || mixed.Again() == "" {
				t.Errorf("got %v", err)
			}
			if w := warnings(t, dir); !strings.Contains(w, c.want) {
				t.Errorf("warnings: %s", w)
			}
			if page := string(read(t, dir, "index.html")); !strings.Contains(page, "Warning: figures ") || strings.Count(page, "Scene: ") != 2 {
				t.Error("the page does not tell")
			}
			scenes := map[string]string{}
			for _, r := range table(t, filepath.Join(dir, "claims.csv")) {
				scenes[r["figure"]] = r["scene"]
			}
			if scenes["fig8"] != c.csv || scenes["table1"] == c.csv {
				t.Errorf("claims.csv has %v", scenes)
			}
			wrote(t, dir, c.scene, c.build, "table1")
			if j, err := ReadJudgement("x", dir); err != nil || len(j.Claims) == 0 {
				t.Errorf("made alike: %v", err)
			}
		})
	}
}

// Real sandboxes have a scene by nature, and so has what was recorded.
func TestOwnScenesAreNoMixture(t *testing.T) {
	var runs []BedRun
	for _, policy := range BedPolicies() {
		runs = append(runs, BedRun{Bed: NewBed(33, 100, time.Minute, 0), Policy: policy, Summary: replay.Summary{Requests: 9, Cold: 3, Warm: 6, OverheadRatio: 0.5}})
	}
	o, d, err := Testbed(runs, "")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	wrote(t, dir, smallScene(), "a", "table1")
	wrote(t, dir, FullScene(), "b", "fig4")
	if err := Write(dir, []Outcome{o}, d); err != nil {
		t.Fatal(err)
	}
	if w := warnings(t, dir); w != "" {
		t.Error(w)
	}
	if _, err := ReadJudgement("x", dir); err != nil {
		t.Error(err)
	}
	for _, r := range table(t, filepath.Join(dir, "claims.csv")) {
		if own := r["scene"] == ownScene; own != (r["figure"] == "fig4" || r["figure"] == testbedID) {
			t.Errorf("%v", r)
		}
	}
}

// What was simulated by another build than that which judged is told, and is no mixture.
func TestSimulationsOfOtherBuildsAreTold(t *testing.T) {
	d := invented(smallScene())
	d.Build = "b"
	for _, m := range d.Cells {
		m.Build = "a"
	}
	f, _ := Find("causes")
	all, err := Reproduce([]Figure{f}, d)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Write(dir, all, d); err != nil {
		t.Fatal(err)
	}
	if page := string(read(t, dir, "index.html")); !strings.Contains(page, "by build b, from simulations of a.") {
		t.Error("the page does not tell")
	}
	if w := warnings(t, dir); w != "" {
		t.Error(w)
	}
}

// The head of the page has the notes of all figures, not of the last run only.
func TestNotesOfAllFigures(t *testing.T) {
	dir := t.TempDir()
	s := smallScene()
	s.Azure = "s2-sigma1"
	wrote(t, dir, s, "a", "table1")
	wrote(t, dir, FullScene(), "a", "causes")
	g, err := Gather(dir)
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(g.notes(), "\n")
	for _, want := range []string{"were not simultaneous (table1)", "only the first 10 minutes", "azure-like is synthetic"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
	if strings.Count(told, "fc-like-faascache is synthetic") != 1 {
		t.Errorf("a note of all figures stands once:\n%s", told)
	}
}

// A figure that an interruption left half written is left out, and nothing else fails.
func TestIncompleteFiguresAreLeftOut(t *testing.T) {
	old := []byte(`[{"figure": "table1", "claim": "c", "verdict": "PASS"}]`)
	for name, c := range map[string]struct {
		spoil func(dir string) error
		want  string
	}{
		"no claims":        {func(dir string) error { return os.Remove(filepath.Join(dir, claimsName)) }, "table1 left out: incomplete"},
		"no section":       {func(dir string) error { return os.Remove(filepath.Join(dir, sectionName)) }, "table1 left out: incomplete"},
		"half of claims":   {func(dir string) error { return os.Truncate(filepath.Join(dir, claimsName), 30) }, "table1 left out: read claims"},
		"of an older ol":   {func(dir string) error { return os.WriteFile(filepath.Join(dir, claimsName), old, 0o644) }, "table1 left out: written by an older ol"},
		"older, no claims": {func(dir string) error { return os.WriteFile(filepath.Join(dir, claimsName), []byte("null\n"), 0o644) }, "table1 left out: written by an older ol"},
		"of another form":  {func(dir string) error { return os.WriteFile(filepath.Join(dir, claimsName), []byte("{}"), 0o644) }, "table1 left out: read claims"},
		"of another figure": {func(dir string) error {
			text, err := os.ReadFile(filepath.Join(dir, "..", "causes", claimsName))
			return errors.Join(err, os.WriteFile(filepath.Join(dir, claimsName), text, 0o644))
		}, "not of that figure"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			wrote(t, dir, smallScene(), "a", "causes", "table1")
			if err := c.spoil(filepath.Join(dir, "table1")); err != nil {
				t.Fatal(err)
			}
			wrote(t, dir, smallScene(), "a", "causes")
			if w := warnings(t, dir); !strings.Contains(w, c.want) || !strings.HasSuffix(w, " table1") {
				t.Errorf("warnings: %q", w)
			}
			page := string(read(t, dir, "index.html"))
			if strings.Contains(page, `id="table1"`) || !strings.Contains(page, `id="causes"`) || !strings.Contains(page, c.want) {
				t.Error("the page has it, or lacks another one")
			}
			for _, file := range []string{"claims.csv", "costs.csv"} {
				if strings.Contains(string(read(t, dir, file)), "table1") {
					t.Errorf("%s has it", file)
				}
			}
			wrote(t, dir, smallScene(), "a", "table1")
			if w := warnings(t, dir); w != "" {
				t.Errorf("made anew: %s", w)
			}
		})
	}
}

// A rewrite that fails half way never leaves new drawings beside old claims.
func TestHalfARewriteIsIncomplete(t *testing.T) {
	dir := t.TempDir()
	wrote(t, dir, smallScene(), "a", "table1", "fig8")
	blocked := filepath.Join(dir, "fig8", "fig8.svg")
	if err := errors.Join(os.Remove(blocked), os.MkdirAll(filepath.Join(blocked, "in the way"), 0o755)); err != nil {
		t.Fatal(err)
	}
	d := invented(FullScene())
	f, _ := Find("fig8")
	all, err := Reproduce([]Figure{f}, d)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, all, d); err == nil {
		t.Fatal("a directory was replaced by a file")
	}
	if w := warnings(t, dir); !strings.Contains(w, "fig8 left out: incomplete") {
		t.Errorf("warnings: %q", w)
	}
	g, err := Gather(dir)
	if err != nil || len(g.Sections) != 1 || g.Sections[0].Figure != "table1" {
		t.Errorf("%+v, %v", g, err)
	}
}

func TestOldResultsAreNotRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, claimsName), []byte("[\n {}\n]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var old *OldError
	if _, err := ReadJudgement("x", dir); !errors.As(err, &old) || !strings.Contains(err.Error(), "written by an older ol") {
		t.Errorf("got %v", err)
	}
}

// One line for each reason says what to type.
func TestLeftOut(t *testing.T) {
	g := &Gathered{Left: []Left{{"fig2", leftOld}, {"fig3", leftIncomplete}, {"fig4", leftOld}, {testbedID, leftIncomplete}}}
	want := []string{
		"fig2, fig4 left out: " + leftOld + "; make anew, with the flags of then: ol repro -o DIR --any-build fig2 fig4",
		"fig3, testbed left out: " + leftIncomplete + "; make anew, with the flags of then: ol repro -o DIR fig3; ol repro -o DIR --testbed",
	}
	if diff := cmp.Diff(want, g.Warnings()); diff != "" {
		t.Error(diff)
	}
}

func TestSceneNames(t *testing.T) {
	quick, full, odd, one := QuickScene(), FullScene(), FullScene(), QuickScene()
	odd.Minutes, odd.FC, odd.Seeds = 3, "demo", Seeds(2)
	one.Azure, one.OneTrace, one.Seeds = "calls.csv", true, Seeds(1)
	var got []string
	for _, s := range []Scene{quick, full, odd, one} {
		got = append(got, s.Name())
	}
	want := []string{"quick", "full", "first 3 minutes, FC: demo, 2 seed(s)", "quick, Azure: calls.csv, one trace: no interval"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(one.String(), "one trace: no interval") || strings.Contains(one.String(), "seed") {
		t.Error(one.String())
	}
}
