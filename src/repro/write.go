package repro

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/open-lambda/open-lambda/src/repro/plot"
)

// Write writes a directory of results: for each figure a directory with the raw
// values of its simulations (cells.csv), of its tables (values.csv) and of its
// drawings (curves.csv), a comparison with the paper and the claims in Markdown,
// and its charts as SVG and PNG; beside them claims.csv, claims.json and
// index.html, which gather what all complete figures in the directory say, those of
// earlier runs too, and costs.csv, what they took. Each file is replaced at once,
// and a figure counts as complete when its last one is there. The directory
// is this process' own: see Hold.
func Write(dir string, all []Outcome, d *Data) error {
	notes, err := d.Notes()
	if err != nil {
		return err
	}
	for i := range all {
		if err := writeFigure(filepath.Join(dir, all[i].ID), &all[i], d, notes); err != nil {
			return err
		}
	}
	g, err := Gather(dir)
	if err != nil {
		return err
	}
	return g.write(dir)
}

// write writes what gathers the figures of a directory.
func (g *Gathered) write(dir string) error {
	text, err := g.page()
	if err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, claimsName), claimsFile{claimsForm, g.Sections}); err != nil {
		return err
	}
	if err := writeCSV(filepath.Join(dir, "claims.csv"), claimRows(g.Sections)); err != nil {
		return err
	}
	took, err := costs(dir, g.Sections)
	if err != nil {
		return err
	}
	if err := writeCSV(filepath.Join(dir, "costs.csv"), costRows(took)); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "index.html"), text)
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	return writeFile(path, append(text, '\n'))
}

// writeFigure writes the claims last and removes those of an earlier run
// first, so that no interruption leaves old and new together.
func writeFigure(dir string, o *Outcome, d *Data, notes []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory of results: %w", err)
	}
	if err := os.Remove(filepath.Join(dir, claimsName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace figure: %w", err)
	}
	s := newSection(o, d, notes)
	part, err := section(o, d.Scene, s.Label())
	if err != nil {
		return err
	}
	if err := errors.Join(
		writeNumbers(dir, o, d),
		writeFile(filepath.Join(dir, o.ID+".md"), markdown(o, d.Scene, notes)),
		writeFile(filepath.Join(dir, sectionName), part),
	); err != nil {
		return err
	}
	for _, c := range o.Charts {
		if err := writeChart(dir, c); err != nil {
			return err
		}
	}
	cost, err := costOf(o, d, dir)
	if err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, costFile), cost); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, claimsName), claimsFile{claimsForm, []Section{s}})
}

// writeNumbers writes the tables for programs.
func writeNumbers(dir string, o *Outcome, d *Data) error {
	if o.Points != nil {
		if err := writeCSV(filepath.Join(dir, "cells.csv"), cellRows(o, d)); err != nil {
			return err
		}
	}
	if len(o.Charts) > 0 {
		if err := writeCSV(filepath.Join(dir, "curves.csv"), curveRows(o.Charts)); err != nil {
			return err
		}
	}
	return writeCSV(filepath.Join(dir, "values.csv"), valueRows(o.Tables))
}

func writeChart(dir string, c Drawing) error {
	var svg, png bytes.Buffer
	if err := plot.WriteSVG(&svg, c.Chart); err != nil {
		return err
	}
	if err := plot.WritePNG(&png, c.Chart); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, c.Name+".svg"), svg.Bytes()); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, c.Name+".png"), png.Bytes())
}

func writeCSV(path string, rows [][]string) error {
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	if err := w.WriteAll(rows); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return writeFile(path, buf.Bytes())
}

func digits(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }

// cellRows has a row for each simulation of a figure.
func cellRows(o *Outcome, d *Data) [][]string {
	rows := [][]string{{
		"workload", "minutes", "iat", "exec", "policy", "pool_mb", "slots", "seed", "arrived", "served", "overhead_pct", "cold_pct",
		"delayed_pct", "warm_pct", "wait_mean_ms", "wait_p50_ms", "wait_p90_ms", "wait_p99_ms", "end_to_end_p50_ms", "end_to_end_p90_ms",
		"end_to_end_p99_ms", "mean_mb", "busy_mb", "evicted", "expired", "wasted", "action_hash",
	}}
	for _, p := range Points([]Figure{o.Figure}, d.Scene) {
		m := d.Cells[p]
		row := []string{
			p.Workload, strconv.Itoa(p.Minutes), digits(p.IAT), digits(p.Exec), p.Policy, strconv.FormatInt(p.PoolMB, 10), strconv.Itoa(p.Slots),
			strconv.FormatUint(p.Seed, 10), strconv.FormatInt(m.Result.Arrived, 10), strconv.FormatInt(m.Result.Served, 10),
		}
		for _, v := range []float64{
			overhead(m), cold(m), delayed(m), warm(m), m.Result.Wait.Mean, m.Wait.At(0.5), m.Wait.At(0.9), m.Wait.At(0.99),
			m.Total.At(0.5), m.Total.At(0.9), m.Total.At(0.99), m.Result.MeanMB, m.BusyMB,
			float64(m.Result.Evicted), float64(m.Result.Expired), float64(m.Result.WastedCold),
		} {
			row = append(row, digits(v))
		}
		rows = append(rows, append(row, m.Result.ActionHash))
	}
	return rows
}

// valueRows has a row for each row of the tables.
func valueRows(tables []Table) [][]string {
	rows := [][]string{{"table", "row", "ours", "half_width", "n", "paper", "difference"}}
	for _, t := range tables {
		for _, r := range t.Rows {
			key := ""
			for i, k := range r.Key {
				key += map[bool]string{true: "", false: "; "}[i == 0] + k
			}
			rows = append(rows, []string{
				t.Title, key, digits(r.Ours.Mean), digits(r.Ours.Half), strconv.Itoa(r.Ours.N), digits(r.Paper), digits(r.Ours.Mean - r.Paper),
			})
		}
	}
	return rows
}

// claimRows has a row for each claim of the sections, with its scene, and the
// build too if that is not the same everywhere.
func claimRows(all []Section) [][]string {
	rows := [][]string{{"figure", "where", "claim", "paper", "tolerance", "measured", "half_width", "n", "verdict", "why", "scene"}}
	m := mixture(all)
	for i := range all {
		scene := all[i].Name
		if m != nil && m.Builds != nil {
			scene = all[i].Label()
		}
		for _, j := range all[i].Claims {
			mean, half := digits(j.Measured.Mean), digits(j.Measured.Half)
			if j.Measured.N == 0 {
				mean, half = "", ""
			}
			rows = append(rows, []string{
				j.Figure, j.Where, j.Text, j.Paper, j.Tolerance, mean, half, strconv.Itoa(j.Measured.N), string(j.Verdict), j.Why, scene,
			})
		}
	}
	return rows
}
