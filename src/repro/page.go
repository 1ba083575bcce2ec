package repro

import (
	"bytes"
	_ "embed" // the template
	"fmt"
	"html/template"
	"strings"

	"github.com/open-lambda/open-lambda/src/repro/plot"
)

//go:embed page.html
var pageText string

// pageFigure is a figure as the template needs it.
type pageFigure struct {
	ID, Title, Where, Ran, Note, Origin string
	Tables                              []pageTable
	Charts                              []pageChart
	Judged                              []Judged
	Counts                              []pageCount
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

// page makes index.html: one file without anything from outside.
func page(all []Outcome, s Scene, notes []string) ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{
		"slug": func(v Verdict) string { return strings.ToLower(strings.ReplaceAll(string(v), " ", "-")) },
	}).Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("parse page: %w", err)
	}
	var figures []pageFigure
	for i := range all {
		f, err := newPageFigure(&all[i], s)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Figures": figures, "Scene": s.String(), "Notes": notes, "Counts": counts(AllJudged(all)),
	})
	if err != nil {
		return nil, fmt.Errorf("fill page: %w", err)
	}
	return b.Bytes(), nil
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
		ID: o.ID, Title: o.Title, Where: o.Where, Ran: o.Ran, Note: o.Note, Origin: origin(o, s), Judged: o.Judged, Counts: counts(o.Judged),
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
