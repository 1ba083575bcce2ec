package trace

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// small is a generated workload of three minutes and a half.
func small() Source {
	s := AzureLike()
	s.Functions, s.Requests, s.Span = 6, 600, 210*time.Second
	return Source{Name: "small", Note: "a note", Synthetic: &s}
}

// collected makes the workload of a source and reads it.
func collected(t *testing.T, s Source, o Options) (Workload, []Profile, []Invocation) {
	t.Helper()
	w, err := s.Workload(o, DefaultModel())
	if err != nil {
		t.Fatal(err)
	}
	functions, all, err := Collect(w)
	if err != nil {
		t.Fatal(err)
	}
	return w, functions, all
}

// What is cut out of a generated workload is what the whole one has there, with times
// from the first of its minutes.
func TestCutGenerated(t *testing.T) {
	_, functions, all := collected(t, small(), Options{Seed: 3})
	for name, c := range map[string]struct {
		o          Options
		begin, end time.Duration
	}{
		"all of it":      {Options{}, 0, 210 * time.Second},
		"all minutes":    {Options{Minutes: 4}, 0, 210 * time.Second},
		"the first two":  {Options{Minutes: 2}, 0, 2 * time.Minute},
		"one in between": {Options{First: 1, Minutes: 1}, time.Minute, 2 * time.Minute},
		"from the third": {Options{First: 2}, 2 * time.Minute, 210 * time.Second},
		"with a cap":     {Options{First: 3, Minutes: 1, MaxExec: 5 * time.Millisecond}, 3 * time.Minute, 210 * time.Second},
	} {
		c.o.Seed = 3
		w, kept, got := collected(t, small(), c.o)
		var want []Invocation
		for _, inv := range all {
			if inv.At < c.begin || inv.At >= c.end {
				continue
			}
			inv.At -= c.begin
			if c.o.MaxExec > 0 {
				inv.Exec = min(inv.Exec, c.o.MaxExec)
			}
			want = append(want, inv)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(functions, kept); diff != "" || w.Span != c.end-c.begin || w.Note != "a note" {
			t.Errorf("%s: %v, %q, %s", name, w.Span, w.Note, diff)
		}
	}
}

func TestCutRefusesWhatIsNotThere(t *testing.T) {
	for _, o := range []Options{
		{First: 4}, {Minutes: 5}, {First: 3, Minutes: 2}, {First: -1}, {Minutes: -1}, {Minutes: 1 << 62}, {First: 1 << 62, Minutes: 1 << 62},
	} {
		if _, err := small().Workload(o, DefaultModel()); err == nil || !strings.Contains(err.Error(), "the trace has 4") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
