package trace

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What is written comes back, record and all, under the name that it gives.
func TestWorkloadFile(t *testing.T) {
	s, err := Draw(7)
	if err != nil {
		t.Fatal(err)
	}
	c := &Calibration{Sample: "azure", Targets: []Target{{"lru", Overhead, 100, 45.7, 44.2, 0.3}}, From: "neutral", Seeds: []uint64{1}, MeasuredSeeds: []uint64{1, 2}, Hashes: []string{"0a", "0b"}, Engine: "ol devel"}
	var text bytes.Buffer
	if err := WriteWorkload(&text, "mine", s, c); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "file.json")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&s, got.Synthetic); diff != "" || got.Name != "mine" {
		t.Errorf("%s: %s", got.Name, diff)
	}
	if diff := cmp.Diff(c, got.Calibration); diff != "" {
		t.Error(diff)
	}
	want := "mine is synthetic, calibrated to the paper's overhead of lru at 100 GB (45.7 %, here 44.2) on Azure; only other figures are predictions"
	if got.Note != want {
		t.Errorf("note %q", got.Note)
	}
	if !c.Fits("lru", Overhead, 100) || c.Fits("lru", Cold, 100) || c.Fits("lru", Overhead, 80) || c.Fits("cidre", Overhead, 100) {
		t.Error("it does not know what was fitted")
	}
}

func TestWorkloadFileRefuses(t *testing.T) {
	s := AzureLike()
	var text bytes.Buffer
	if err := WriteWorkload(&text, "x", s, nil); err != nil {
		t.Fatal(err)
	}
	good := text.String()
	for name, c := range map[string]struct{ old, new, want string }{
		"another form":      {workloadForm, "ol-workload/9", "its form is"},
		"a parameter less":  {`"zipf_s"`, `"zipf"`, "zipf_s is missing"},
		"a parameter more":  {`"even"`, `"odd": 1, "even"`, `none named "odd"`},
		"a key more":        {`"form"`, `"shape": 1, "form"`, "unknown field"},
		"no name":           {`"name": "x"`, `"name": ""`, "no name"},
		"a value too large": {`"even": 0.265`, `"even": 2.65`, "even is 2.65, not a number from 0 to 1"},
		"no JSON":           {`{`, `[`, "read workload"},
	} {
		broken := strings.Replace(good, c.old, c.new, 1)
		if broken == good {
			t.Fatalf("%s: nothing was broken", name)
		}
		if _, err := readWorkload("x", strings.NewReader(broken)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every generated workload that ships says what it was fitted to and what that
// came to, with the runs that show it.
func TestGeneratedHaveRecords(t *testing.T) {
	for _, name := range Generated() {
		source, known, err := Named(name)
		if err != nil || !known || source.Name != name {
			t.Fatalf("%s: %q, %v, %v", name, source.Name, known, err)
		}
		c := source.Calibration
		if c == nil || len(c.Targets) == 0 || c.Engine == "" || !strings.Contains(source.Note, "calibrated to") {
			t.Fatalf("%s has no record", name)
		}
		if len(c.Hashes) != len(c.Targets)*len(c.MeasuredSeeds) || !strings.HasPrefix(name, c.Sample) {
			t.Errorf("%s: %d hashes of %d targets and %d seeds, sample %s", name, len(c.Hashes), len(c.Targets), len(c.MeasuredSeeds), c.Sample)
		}
		for _, target := range c.Targets {
			if target.Ours <= 0 || target.Paper <= 0 || strings.HasSuffix(name, "-faascache") && target.Policy != "faascache" {
				t.Errorf("%s: %+v", name, target)
			}
		}
	}
}

func TestParametersAreInTheirRanges(t *testing.T) {
	s, err := Neutral("fc")
	if err != nil {
		t.Fatal(err)
	}
	if s.Functions != 220 || s.Requests != 410_000 {
		t.Errorf("%+v", s)
	}
	for _, p := range Parameters() {
		if !p.Free() {
			continue
		}
		if share := p.Share(p.Get(&s)); share < 0.499 || share > 0.501 {
			t.Errorf("%s stands at %v of its range", p.Name, share)
		}
	}
	if _, err := Neutral("gcp"); err == nil {
		t.Error("there is no such sample")
	}
	if short := s.First(3); short.Span != 3*time.Minute || short.Requests != 41_000 || s.First(0) != s {
		t.Errorf("%+v", short)
	}
}

func TestGridNames(t *testing.T) {
	source, known, err := Named(GridName(8, 200*time.Millisecond))
	if err != nil || !known || source.Synthetic.Burst != 8 || source.Synthetic.Cold != 200*time.Millisecond || source.Synthetic.Even != 0 {
		t.Errorf("%+v, %v, %v", source, known, err)
	}
	if even, _, _ := Named("grid-1-50"); even.Synthetic == nil || even.Synthetic.Even != 1 {
		t.Error("bursts of one are none")
	}
	for _, name := range []string{"grid-8", "grid-x-5", "grid-0-5", "grid-8-0", "grid-8-5s", "grid-NaN-5", "grid-inf-5"} {
		if _, known, _ := Named(name); known {
			t.Errorf("%s is known", name)
		}
	}
}
