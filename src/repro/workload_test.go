package repro

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/src/trace"
)

// callsText has a request each 20 s for 12 minutes.
func callsText() string {
	var b strings.Builder
	b.WriteString("t_ms,function,exec_ms,mem_mb,cold_ms\n")
	for i := range 36 {
		fmt.Fprintf(&b, "%d,f,100,128,200\n", 20_000*i)
	}
	return b.String()
}

const minuteText = "id,mem_mb,d_p0,d_p1,d_p25,d_p50,d_p75,d_p99,d_p100,d_avg,m1,m2\na,100,1,1,2,3,4,5,6,3,10,11\n"

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// change replaces a word of a file by another one of its length, and keeps the file's times.
func change(t *testing.T, path, from, to string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(read(t, path))
	if len(from) != len(to) || !strings.Contains(text, from) {
		t.Fatalf("%s has no %q", path, from)
	}
	put(t, filepath.Dir(path), filepath.Base(path), strings.Replace(text, from, to, 1))
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// azureSet writes the three files of a set of two minutes.
func azureSet(t *testing.T, dir string) {
	t.Helper()
	put(t, dir, "invocations.csv", "HashOwner,HashApp,HashFunction,Trigger,1,2\no,a,f,http,3,4\n")
	put(t, dir, "durations.csv", "HashFunction,Average,percentile_Average_0,percentile_Average_1,percentile_Average_25,percentile_Average_50,percentile_Average_75,percentile_Average_99,percentile_Average_100\nf,5,1,2,3,4,5,6,7\n")
	put(t, dir, "memory.csv", "HashFunction,AverageAllocatedMb\nf,100\n")
}

// Whatever is changed in what a workload is read from makes it another one.
func TestContentIsThatOfAllFiles(t *testing.T) {
	dir, set := t.TempDir(), t.TempDir()
	calls := put(t, dir, "calls.csv", callsText())
	azureSet(t, set)
	counts := filepath.Join(set, "invocations.csv")
	for name, c := range map[string]struct{ workload, file, from, to string }{
		"a file":               {calls, calls, ",100,", ",101,"},
		"a directory's counts": {set, counts, "http,3", "http,5"},
		"a directory's memory": {set, filepath.Join(set, "memory.csv"), "f,100", "f,200"},
		"durations beside":     {counts, filepath.Join(set, "durations.csv"), "f,5,1", "f,6,1"},
	} {
		before := content(c.workload)
		if before == "" || before != content(c.workload) {
			t.Errorf("%s: %q is not what identifies it", name, before)
		}
		change(t, c.file, c.from, c.to)
		if content(c.workload) == before {
			t.Errorf("%s: a change is not seen", name)
		}
		change(t, c.file, c.to, c.from)
		if content(c.workload) != before {
			t.Errorf("%s: the same content is not seen", name)
		}
	}
}

// What comes with the program has its name whatever stands in the working directory, so that
// its simulations are found again.
func TestContentOfWhatIsShipped(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"s1", "s2-sigma1", "azure-like", "draw-3", "demo"} {
		put(t, dir, name, callsText())
		if c := content(name); c != "" {
			t.Errorf("%s: %q", name, c)
		}
	}
}

// Simulations of a trace that has changed are not taken for those of the new one.
func TestCellsOfAChangedTrace(t *testing.T) {
	path := put(t, t.TempDir(), "calls.csv", callsText())
	s := Scene{Azure: path, FC: path, Seeds: Seeds(1)}
	p := s.at(path, "lru", 1)
	p.Seed = 1
	cells := newCells(t, "a")
	if _, err := Run(t.Context(), []Point{p}, cells, 1, nil); err != nil || cells.load(p) == nil {
		t.Fatal(err)
	}
	again := func() *Measured { return (&Cells{Dir: cells.Dir, Build: "a"}).load(p) }
	change(t, path, ",100,", ",900,")
	if again() != nil {
		t.Error("it counts for a trace that has changed")
	}
	change(t, path, ",900,", ",100,")
	if again() == nil {
		t.Error("it does not count for its own trace")
	}
}

// A trace of invocations is cut as others are.
func TestShortCalls(t *testing.T) {
	path := put(t, t.TempDir(), "calls.csv", callsText())
	w, err := FindWorkload(path)
	if err != nil || w.Source.Seeded() {
		t.Fatalf("a seed changes it, or %v", err)
	}
	for minutes, want := range map[int]int{0: 36, 2: 6, 10: 30, 99: 36} {
		opened, err := w.Open(minutes, 1)
		if err != nil {
			t.Fatal(err)
		}
		_, all, err := trace.Collect(opened)
		if err != nil || len(all) != want {
			t.Errorf("%d minutes: %d requests, %v", minutes, len(all), err)
		}
	}
}

// What cannot be simulated is known before anything is.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	var half bytes.Buffer
	zip := gzip.NewWriter(&half)
	if _, err := zip.Write([]byte(callsText())); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	var none *trace.CutError
	var row *trace.RowError
	for name, c := range map[string]struct {
		path    string
		minutes int
		want    string // "" is no error
		as      any
	}{
		"calls":            {put(t, dir, "calls.csv", callsText()), 10, "", nil},
		"short calls":      {put(t, dir, "short.csv", "1,f,1,1,1\n"), 10, "", nil},
		"late calls":       {put(t, dir, "late.csv", "660000,f,1,1,1\n"), 10, "no invocation in minutes 1 to 10", &none},
		"a row in the end": {put(t, dir, "broken.csv", callsText()+"9,f\n"), 0, "broken.csv:38:", &row},
		"cut off":          {put(t, dir, "half.csv.gz", half.String()[:half.Len()-12]), 0, "unexpected EOF", nil},
		"minutes":          {put(t, dir, "minutes.csv", minuteText), 2, "", nil},
		"too few minutes":  {filepath.Join(dir, "minutes.csv"), 10, "minutes 1 to 10 asked for, the trace has 2", nil},
		"generated":        {"azure-like", 10, "", nil},
		"too few requests": {"azure-like:requests=400", 10, "133 requests are fewer than 330 functions", nil},
	} {
		w, err := FindWorkload(c.path)
		if err == nil {
			err = w.Check(c.minutes)
		}
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v", name, err)
		case c.as != nil && !errors.As(err, c.as):
			t.Errorf("%s: %v is of another type", name, err)
		}
	}
}
