package main

import (
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// column is one of a table that must fit the terminal.
type column struct {
	head  string // several lines are separated by \n
	left  bool   // names stand at the left, numbers at the right
	rank  int    // the highest is left out first when room is short, 0 never
	cells []any
}

// lines returns how many cells the columns have.
func lines(columns []column) int {
	if len(columns) == 0 {
		return 0
	}
	return len(columns[0].cells)
}

// fitted prints a table of the columns that have room in the terminal, all if
// wide, and says which do not. A line is drawn before the rows in breaks.
func (s streams) fitted(columns []column, breaks []int, wide bool) {
	var out []string
	drawn := render(columns, breaks)
	for !wide && tooWide(drawn, s.columns()) {
		last := 0
		for i, c := range columns {
			if c.rank > columns[last].rank {
				last = i
			}
		}
		if columns[last].rank == 0 {
			break
		}
		out = append(out, strings.ReplaceAll(columns[last].head, "\n", " "))
		columns = append(columns[:last:last], columns[last+1:]...)
		drawn = render(columns, breaks)
	}
	s.print("%s", drawn)
	if len(out) > 0 {
		s.prose("For want of room without %s: see --wide.", strings.Join(out, ", "))
	}
}

func render(columns []column, breaks []int) string {
	head, left := table.Row{}, 0
	for _, c := range columns {
		head = append(head, c.head)
		if c.left {
			left++
		}
	}
	t := plainTable(head, left)
	for i := range lines(columns) {
		for _, b := range breaks {
			if b == i {
				t.AppendSeparator()
			}
		}
		row := table.Row{}
		for _, c := range columns {
			row = append(row, c.cells[i])
		}
		t.AppendRow(row)
	}
	return t.Render()
}

func tooWide(drawn string, columns int) bool {
	for line := range strings.Lines(drawn) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > columns {
			return true
		}
	}
	return false
}

// plainTable is a table in the style of all of them.
func plainTable(head table.Row, left int) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(head)
	var columns []table.ColumnConfig
	for i := left; i < len(head); i++ {
		columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	return t
}
