package main

import (
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/src/repro"
	"github.com/open-lambda/open-lambda/src/sim/study"
)

// Tables leave out what is ranked highest until they fit, and say so.
func TestFitted(t *testing.T) {
	columns := func() []column {
		return []column{
			{head: "policy", left: true, cells: []any{"lru", "cidre"}},
			{head: "kept", cells: []any{strings.Repeat("1", 20), "2"}},
			{head: "first\nout", rank: 2, cells: []any{strings.Repeat("3", 20), "4"}},
			{head: "last", rank: 1, cells: []any{strings.Repeat("5", 20), "6"}},
		}
	}
	for _, c := range []struct {
		name     string
		width    int
		wide     bool
		want     int // columns of the table
		sentence string
	}{
		{"room for all", 90, false, 4, ""},
		{"no terminal", 0, false, 4, ""},
		{"room for three", 60, false, 3, "without first out:"},
		{"room for two", 40, false, 2, "without first out, last:"},
		{"no room", 10, false, 2, "without first out, last:"},
		{"wide", 10, true, 4, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			streams{out: &out, width: c.width}.fitted(columns(), nil, c.wide)
			head, _, _ := strings.Cut(out.String(), "\n")
			if got := strings.Count(head, "┬") + 1; got != c.want {
				t.Errorf("%d columns, want %d:\n%s", got, c.want, out.String())
			}
			if !strings.Contains(out.String(), c.sentence) || c.sentence == "" && strings.Contains(out.String(), "--wide") {
				t.Errorf("want %q in\n%s", c.sentence, out.String())
			}
		})
	}
}

// All that there is to say of a claim fits.
func TestOrderTableFits(t *testing.T) {
	var judged []study.Judged
	for _, c := range repro.Orderings() {
		judged = append(judged, study.Judged{Claim: c, Verdict: study.Undecided, Difference: study.Interval{Mean: -12.34, Half: 1.25, N: 5}})
	}
	var out strings.Builder
	streams{out: &out}.fitted(orderColumns(judged), nil, false)
	if strings.Contains(out.String(), "For want of room") || tooWide(out.String(), helpWidth) {
		t.Errorf("too wide:\n%s", out.String())
	}
}
