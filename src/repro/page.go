package repro

import (
	"bytes"
	_ "embed" // the templates
	"fmt"
	"html/template"
	"strings"

	"github.com/open-lambda/open-lambda/src/repro/plot"
)

//go:embed page.html
var pageText string

//go:embed section.html
var sectionText string

// pageFigure is a figure as its section needs it.
type pageFigure struct {
	ID, Title, Where, Ran, Note, Origin, Scene string

	Text   []string
	Tables []pageTable
	Charts []pageChart
	Judged []Judged
	Counts []pageCount
}

type pageTable struct {
	Title string
	Head  []string
	Keys  int // columns that name the row
	Rows  [][]string
}

type pageChart struct {
	Title string
	SVG   template.HTML
}

type pageCount struct {
	Verdict Verdict
	N       int
}

func fill(name, text string, data any) ([]byte, error) {
	t, err := template.New(name).Funcs(template.FuncMap{
		"slug": func(v Verdict) string { return strings.ToLower(strings.ReplaceAll(string(v), " ", "-")) },
	}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("fill %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// sectionName is the file of a figure's part of the page.
const sectionName = "section.html"

// section is the part of the page that is about a figure; label names its scene.
func section(o *Outcome, s Scene, label string) ([]byte, error) {
	f, err := newPageFigure(o, s)
	if err != nil {
		return nil, err
	}
	f.Scene = label
	return fill("section", sectionText, f)
}

// page puts the sections that were gathered in one file without anything from
// outside.
func (g *Gathered) page() ([]byte, error) {
	var parts []template.HTML
	var ids []string
	for i := range g.Sections {
		parts = append(parts, template.HTML(g.html[i])) //nolint:gosec // written by ourselves
		ids = append(ids, g.Sections[i].Figure)
	}
	return fill("page", pageText, map[string]any{
		"Sections": parts, "IDs": ids, "Notes": g.notes(), "Warnings": g.Warnings(), "Counts": counts(g.claims()),
	})
}

func counts(all []Judged) []pageCount {
	var out []pageCount
	for _, v := range Verdicts() {
		if n := Count(all, v); n > 0 {
			out = append(out, pageCount{v, n})
		}
	}
	return out
}

func newPageFigure(o *Outcome, s Scene) (pageFigure, error) {
	f := pageFigure{
		ID: o.ID, Title: o.Title, Where: o.Where, Ran: o.Ran, Note: o.Note, Origin: origin(o, s), Judged: o.Judged, Text: o.Text, Counts: counts(o.Judged),
	}
	for _, t := range o.Tables {
		f.Tables = append(f.Tables, pageTable{t.Title, append(append([]string(nil), t.Keys...), "ours", "paper", "difference"), len(t.Keys), tableCells(t)})
	}
	for _, c := range o.Charts {
		var svg bytes.Buffer
		if err := plot.WriteSVG(&svg, c.Chart); err != nil {
			return f, err
		}
		text := svg.String()
		if i := strings.Index(text, "<svg"); i > 0 {
			text = text[i:] // inside a page there is no XML declaration
		}
		f.Charts = append(f.Charts, pageChart{c.Title, template.HTML(text)}) //nolint:gosec // drawn by ourselves
	}
	return f, nil
}
