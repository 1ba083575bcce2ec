package repro

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Beds keeps replays on real sandboxes in a directory, so that an interrupted
// reproduction goes on where it was.
type Beds struct {
	Dir      string
	Build    string // of this program
	AnyBuild bool   // take what another build has kept
	Chosen   bool   // the user chose the scale of time: runs with another one are others
}

// Name names what is kept of a run, without an extension: all that was chosen
// is in it.
func (b *Beds) Name(bed Bed, policy string) string {
	scale := "auto"
	if b.Chosen {
		scale = text(bed.Scale)
	}
	return fmt.Sprintf("testbed-%s-f%d-gb%s-%v-x%s-%d", policy, bed.Functions, text(bed.GB), bed.Span, scale, bed.Seed)
}

func (b *Beds) path(bed Bed, policy string) string {
	return filepath.Join(b.Dir, b.Name(bed, policy)+".json")
}

// Load returns a run that was kept. A bed without a scale takes any that was
// found for it.
func (b *Beds) Load(bed Bed, policy string) (BedRun, bool) {
	var run BedRun
	text, err := os.ReadFile(b.path(bed, policy))
	if err != nil || json.Unmarshal(text, &run) != nil || run.Build != b.Build && !b.AnyBuild {
		return run, false
	}
	if bed.Scale == 0 {
		bed.Scale = run.Bed.Scale
	}
	return run, run.Bed == bed
}

// Keep keeps a run.
func (b *Beds) Keep(run BedRun) error {
	if err := makeCells(b.Dir); err != nil {
		return err
	}
	return writeJSON(b.path(run.Bed, run.Policy), run)
}

// KeepRequests keeps a run's requests, a row for each, beside it; those of a run
// that ended early beside what was kept of a complete one.
func (b *Beds) KeepRequests(bed Bed, policy string, csv []byte, complete bool) error {
	end := "-requests.csv"
	if !complete {
		end = "-requests-incomplete.csv"
	}
	if err := makeCells(b.Dir); err != nil {
		return err
	}
	return writeFile(filepath.Join(b.Dir, b.Name(bed, policy)+end), csv)
}
