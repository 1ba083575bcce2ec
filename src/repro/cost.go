package repro

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Cost is what something took of the machine that it ran on.
type Cost struct {
	Seconds float64 `json:"seconds"`     // of the clock
	CPU     float64 `json:"cpu_seconds"` // of one core, without the collection of garbage
}

func (c Cost) plus(o Cost) Cost { return Cost{c.Seconds + o.Seconds, c.CPU + o.CPU} }

// spent tells what something took that runs on one goroutine.
func spent(do func() error) (Cost, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, cpu := time.Now(), threadCPU()
	err := do()
	return Cost{time.Since(began).Seconds(), (threadCPU() - cpu).Seconds()}, err
}

// threadCPU is the processor time that this thread has had.
func threadCPU() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // Linux always has it
	return time.Duration(t.Nano())
}

// FigureCost is what a figure took.
type FigureCost struct {
	Figure      string `json:"figure"`
	Simulations int    `json:"simulations"`
	Own         int    `json:"own"`         // of these, the ones that no earlier figure of the paper needs
	All         Cost   `json:"all"`         // of its simulations
	OfOwn       Cost   `json:"of_own"`      // of its own ones
	Draw        Cost   `json:"draw"`        // analysis of traces, tables, charts, verdicts
	Bytes       int64  `json:"bytes"`       // its files
	CellBytes   int64  `json:"cells_bytes"` // what is kept of its own simulations
}

// costOf adds up what a figure took; dir is where its files are, all but its
// claims and the costs.
func costOf(o *Outcome, d *Data, dir string) (FigureCost, error) {
	c := FigureCost{Figure: o.ID, Draw: o.drawn}
	var before []Figure
	for _, f := range Figures() {
		if f.ID == o.ID {
			break
		}
		before = append(before, f)
	}
	earlier := map[Point]bool{}
	for _, p := range Points(before, d.Scene) {
		earlier[p] = true
	}
	for _, p := range Points([]Figure{o.Figure}, d.Scene) {
		m := d.Cells[p]
		c.Simulations++
		c.All = c.All.plus(m.Cost)
		if !earlier[p] {
			c.Own++
			c.OfOwn = c.OfOwn.plus(m.Cost)
			c.CellBytes += m.bytes
		}
	}
	var err error
	c.Bytes, err = size(dir)
	return c, err
}

// size is that of the files in a directory but for those that say what was
// spent: with them the size of a figure would change when it is written again.
func size(dir string) (int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("measure results: %w", err)
	}
	var n int64
	for _, e := range entries {
		if e.Name() == costFile {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("measure results: %w", err)
		}
		n += info.Size()
	}
	return n, nil
}

// costFile is kept in the directory of each figure.
const costFile = "cost.json"

// costs reads those of the figures that were gathered, replays on real
// sandboxes aside.
func costs(dir string, sections []Section) ([]FigureCost, error) {
	var all []FigureCost
	for i := range sections {
		id := sections[i].Figure
		if id == testbedID {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, id, costFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var c FigureCost
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil {
			return nil, fmt.Errorf("gather costs: %w", err)
		}
		all = append(all, c)
	}
	return all, nil
}

// costRows has a row for each figure, and their sum.
func costRows(all []FigureCost) [][]string {
	rows := [][]string{{"figure", "simulations", "own", "cpu_s", "own_cpu_s", "own_clock_s", "draw_cpu_s", "files_bytes", "cells_bytes"}}
	sum := FigureCost{Figure: "all"}
	for _, c := range all {
		rows = append(rows, costRow(c))
		sum.Own += c.Own
		sum.OfOwn, sum.Draw = sum.OfOwn.plus(c.OfOwn), sum.Draw.plus(c.Draw)
		sum.Bytes, sum.CellBytes = sum.Bytes+c.Bytes, sum.CellBytes+c.CellBytes
	}
	sum.Simulations, sum.All = sum.Own, sum.OfOwn
	return append(rows, costRow(sum))
}

func costRow(c FigureCost) []string {
	seconds := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	return []string{
		c.Figure, strconv.Itoa(c.Simulations), strconv.Itoa(c.Own), seconds(c.All.CPU), seconds(c.OfOwn.CPU), seconds(c.OfOwn.Seconds),
		seconds(c.Draw.CPU), strconv.FormatInt(c.Bytes, 10), strconv.FormatInt(c.CellBytes, 10),
	}
}
