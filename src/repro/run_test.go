package repro

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// demoScene is small: twelve functions, two minutes.
func demoScene() Scene { return Scene{Azure: "demo", FC: "demo", Minutes: 2, Seeds: Seeds(2)} }

func demoPoints() []Point {
	s := demoScene()
	var all []Point
	for _, seed := range s.Seeds {
		for _, policy := range []string{"lru", "cidre", "offline"} {
			p := s.at("demo", policy, 2)
			p.Seed = seed
			slow := p
			slow.IAT, slow.Exec = 2, 1.5
			all = append(all, p, slow, p)
		}
	}
	return all
}

func newCells(t *testing.T, build string) *Cells {
	t.Helper()
	return &Cells{Dir: filepath.Join(t.TempDir(), "cells"), Build: build}
}

// decided compares what a simulation decided, not what it took.
func decided() cmp.Option {
	return cmp.Options{cmpopts.IgnoreFields(Measured{}, "Cost"), cmpopts.IgnoreUnexported(Measured{})}
}

// Results do not depend on how many run at a time, nor on where they come from.
func TestRunIsDeterministicAndKeepsCells(t *testing.T) {
	cells := newCells(t, "a")
	first, err := Run(t.Context(), demoPoints(), cells, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 12 {
		t.Fatalf("%d points, want 12: doubles are measured once", len(first))
	}
	parallel, err := Run(t.Context(), demoPoints(), newCells(t, "a"), 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, parallel, decided()); diff != "" {
		t.Errorf("parallel runs differ: %s", diff)
	}
	for p, m := range first {
		if m.Cost.CPU <= 0 || m.Cost.Seconds <= 0 || m.bytes == 0 {
			t.Errorf("%+v took %+v and %d bytes", p, m.Cost, m.bytes)
		}
	}
	before := written(t, cells.Dir)
	kept, err := Run(t.Context(), demoPoints(), cells, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, kept, decided()); diff != "" {
		t.Errorf("kept cells differ: %s", diff)
	}
	if diff := cmp.Diff(before, written(t, cells.Dir)); diff != "" {
		t.Errorf("cells were written again: %s", diff)
	}
}

// written tells when the files of a directory were written.
func written(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]time.Time{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = info.ModTime()
	}
	return all
}

// An interrupted run keeps what it has, and the next one does the rest.
func TestRunGoesOnAfterAnInterruption(t *testing.T) {
	cells := newCells(t, "a")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Run(ctx, demoPoints(), cells, 1, func(done, total int) {
		if done == 5 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	kept := written(t, cells.Dir)
	if len(kept) != 5 {
		t.Fatalf("%d cells are kept, want 5", len(kept))
	}
	if _, err := Run(t.Context(), demoPoints(), cells, 2, nil); err != nil {
		t.Fatal(err)
	}
	after := written(t, cells.Dir)
	if len(after) != 12 {
		t.Errorf("%d cells in the end", len(after))
	}
	for name, at := range kept {
		if !after[name].Equal(at) {
			t.Errorf("%s was measured again", name)
		}
	}
}

// A cell counts only for the program that wrote it, and only whole.
func TestCellsThatDoNotCount(t *testing.T) {
	cells := newCells(t, "a")
	p := demoPoints()[:1]
	if _, err := Run(t.Context(), p, cells, 1, nil); err != nil {
		t.Fatal(err)
	}
	if cells.load(p[0]) == nil {
		t.Fatal("the cell does not count for its own program")
	}
	other := &Cells{Dir: cells.Dir, Build: "b"}
	if other.load(p[0]) != nil {
		t.Error("it counts for another one")
	}
	other.AnyBuild = true
	if other.load(p[0]) == nil {
		t.Error("it does not count although any build does")
	}
	if err := os.Truncate(cells.path(p[0]), 100); err != nil {
		t.Fatal(err)
	}
	if cells.load(p[0]) != nil {
		t.Error("half of it counts")
	}
	if _, err := Run(t.Context(), p, cells, 1, nil); err != nil || cells.load(p[0]) == nil {
		t.Errorf("it is not measured again: %v", err)
	}
}

// Factors stretch what they say, the requests stay the same ones.
func TestFactors(t *testing.T) {
	results, err := Run(t.Context(), demoPoints(), newCells(t, "a"), 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := demoPoints()[0]
	slow := p
	slow.IAT, slow.Exec = 2, 1.5
	a, b := results[p].Result, results[slow].Result
	if a.Arrived != b.Arrived || b.ExecMean < 1.49*a.ExecMean || b.ExecMean > 1.51*a.ExecMean || b.Seconds < 1.9*a.Seconds {
		t.Errorf("%d and %d requests of %v and %v ms in %v and %v s", a.Arrived, b.Arrived, a.ExecMean, b.ExecMean, a.Seconds, b.Seconds)
	}
	if wait := results[p].Wait.At(0.9 * a.WarmRatio); wait > 0 {
		t.Errorf("the curve says that %v ms were waited by some of the %v that were warm", wait, a.WarmRatio)
	}
}

func TestFindWorkload(t *testing.T) {
	for _, name := range append(Workloads(), "demo", "draw-3") {
		if _, err := FindWorkload(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var unknown *UnknownWorkloadError
	for _, name := range []string{"azure", "s2-sigma7", "azure-like-sigma1"} {
		if _, err := FindWorkload(name); !errors.As(err, &unknown) || unknown.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := FindWorkload("./nothing.csv"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := Run(t.Context(), []Point{{Workload: "azure", Policy: "lru", PoolMB: 1, Seed: 1}}, newCells(t, "a"), 1, nil); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
}

// Shortening a generated workload keeps its rate.
func TestShortWorkloadsKeepTheirRate(t *testing.T) {
	w, err := FindWorkload("azure-like")
	if err != nil {
		t.Fatal(err)
	}
	short, err := w.Open(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if short.Span != 3*time.Minute {
		t.Errorf("span %v", short.Span)
	}
	if w.Source.Synthetic.Span != 30*time.Minute {
		t.Error("the source was changed")
	}
}
