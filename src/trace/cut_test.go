package trace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recorded is a source of invocations at 10, 70, 130 and 130 s.
func recorded() Source {
	return Source{Name: "c", Calls: func() (Stream, error) {
		return &slice{functions: []Profile{{Name: "f"}}, all: []Invocation{{At: 10 * time.Second}, {At: 70 * time.Second}, {At: 130 * time.Second}, {At: 130 * time.Second}}}, nil
	}}
}

// Recorded invocations are cut by minutes, and time begins with the first one taken.
func TestCallsAreCut(t *testing.T) {
	for _, c := range []struct {
		first, minutes int
		want           string
	}{
		{0, 0, "10 70 130 130"},
		{0, 1, "10"},
		{0, 2, "10 70"},
		{1, 1, "10"},
		{1, 0, "10 70 70"},
		{0, 99, "10 70 130 130"},
		{2, 1, "10 10"},
		{0, 1 << 62, "10 70 130 130"},
		{3, 0, "cut trace c: it has no invocation from minute 4 on"},
		{1 << 62, 1, "no invocation in minutes"},
		{5, 2, "cut trace c: it has no invocation in minutes 6 to 7"},
	} {
		w, err := recorded().Workload(Options{First: c.first, Minutes: c.minutes}, DefaultModel())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // it can be read again
			_, all, err := Collect(w)
			got := ""
			var nothing *CutError
			if errors.As(err, &nothing) {
				got = err.Error()
			} else if err != nil {
				t.Fatal(err)
			}
			for i, inv := range all {
				if i > 0 {
					got += " "
				}
				got += fmt.Sprint(inv.At.Seconds())
			}
			if nothing == nil && got != c.want || !strings.Contains(got, c.want) {
				t.Errorf("%d minutes from %d on: %s, want %s", c.minutes, c.first, got, c.want)
			}
		}
	}
	for _, o := range []Options{{First: -1}, {Minutes: -1}} {
		if _, err := recorded().Workload(o, DefaultModel()); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// Only recorded invocations are the same whatever the seed.
func TestSeeded(t *testing.T) {
	s := AzureLike()
	if recorded().Seeded() || !(Source{Functions: two()}).Seeded() || !(Source{Synthetic: &s}).Seeded() {
		t.Error("the seed matters where it does not, or the other way round")
	}
}

// A generated workload is cut, never made longer.
func TestFirstOnlyCuts(t *testing.T) {
	s := AzureLike()
	for minutes, want := range map[int]time.Duration{0: s.Span, 10: 10 * time.Minute, 30: s.Span, 60: s.Span} {
		got := s.First(minutes)
		rate := float64(got.Requests) / got.Span.Seconds() / (float64(s.Requests) / s.Span.Seconds())
		if got.Span != want || rate < 0.999 || rate > 1.001 {
			t.Errorf("%d minutes: %v, %d requests", minutes, got.Span, got.Requests)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	counts, durations, memory := put("invocations.1.csv", countsHead+",1\n"), put("durations.1.csv", "x\n"), put("memory.1.csv", "x\n")
	set := []string{counts, durations, memory}
	for path, want := range map[string][]string{dir: set, counts: set, memory: {memory}} {
		got, err := Files(path)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", path, err, diff)
		}
	}
	for _, path := range []string{filepath.Join(dir, "nothing"), t.TempDir(), put("other.csv", countsHead+",1\n")} {
		if got, err := Files(path); err == nil {
			t.Errorf("%s: %q and no error", path, got)
		}
	}
}
