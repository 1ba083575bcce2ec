package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/repro"
)

// The scale that a user chooses is replayed, also one below 1.
func TestBedsScale(t *testing.T) {
	for _, tt := range []struct{ asked, want float64 }{{0, 1}, {0.5, 0.5}, {1, 1}, {4, 4}} {
		bed := repro.NewBed(24, 100, 10*time.Second, 1)
		bed.Scale = tt.asked
		r := &bedRunner{bed: bed, kept: &repro.Beds{Dir: t.TempDir(), Chosen: tt.asked != 0}}
		if err := r.plan(t.TempDir()); err != nil {
			t.Fatal(err)
		}
		if p := r.v.plan; p.scale != tt.want || p.chosen != (tt.asked != 0) {
			t.Errorf("asked for %v: %v, chosen %v", tt.asked, p.scale, p.chosen)
		}
	}
}

// A file that could not be written whole does not get its name.
func TestCutFilesGetNoNames(t *testing.T) {
	dir := t.TempDir()
	out, err := newOutputs(streams{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left")
	if err := out.write("cut.csv", func(io.Writer) error { return full }); !errors.Is(err, full) {
		t.Fatal(err)
	}
	if err := out.write("whole.csv", func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := out.commit(); err != nil {
		t.Fatal(err)
	}
	out.abort()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || !slices.Equal(names, []string{filepath.Join(dir, "whole.csv")}) {
		t.Errorf("%v, %v", names, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
