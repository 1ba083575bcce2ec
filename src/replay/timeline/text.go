package timeline

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// mark is how a stretch is drawn, and how much it matters where several fall
// into one column.
func mark(what string) (rune, int) {
	switch what {
	case "cold":
		return 'C', 6
	case "delayed":
		return 'D', 5
	case "warm":
		return 'W', 4
	case "start":
		return '.', 3
	case "destroy":
		return 'x', 3
	case "idle":
		return '-', 2
	case "frozen":
		return '~', 1
	}
	return ' ', 0
}

// Legend says what the marks of WriteText mean.
const Legend = ". start   C cold   D delayed   W warm   - idle   ~ frozen   x destroyed"

// MostTracks is how many tracks WriteText draws: more are not for reading.
const MostTracks = 200

// WriteText draws a line for each sandbox, from begin to end, in so many
// columns for the time.
func WriteText(out io.Writer, tracks []*Track, begin, end time.Duration, columns int) error {
	columns = max(columns, 10)
	step := (end - begin) / time.Duration(columns)
	if step <= 0 {
		step = 1
	}
	name := 0
	for _, t := range tracks[:min(len(tracks), MostTracks)] {
		name = max(name, len(title(t)))
	}
	var b strings.Builder
	for _, t := range tracks[:min(len(tracks), MostTracks)] {
		fmt.Fprintf(&b, "%-*s |%s|\n", name, title(t), strings.TrimRight(row(t, begin, step, columns), "\n"))
	}
	if left := len(tracks) - MostTracks; left > 0 {
		fmt.Fprintf(&b, "and %d sandboxes more\n", left)
	}
	fmt.Fprintf(&b, "%-*s  %s\n%s; a column is %v\n", name, "", axis(begin, end, columns), Legend, step.Round(100*time.Microsecond))
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("draw timeline: %w", err)
	}
	return nil
}

func title(t *Track) string {
	if t.Worker == "" {
		return t.Function + " " + t.Sandbox
	}
	return t.Worker + " " + t.Function + " " + t.Sandbox
}

// row draws one track.
func row(t *Track, begin, step time.Duration, columns int) string {
	marks, weights := []rune(strings.Repeat(" ", columns)), make([]int, columns)
	for _, s := range t.Spans {
		m, weight := mark(s.What)
		first, last := int((s.From-begin)/step), int((s.To-begin-1)/step)
		for i := max(first, 0); i <= min(last, columns-1); i++ {
			if weight > weights[i] {
				marks[i], weights[i] = m, weight
			}
		}
	}
	return string(marks)
}

// axis is the two ends of the time.
func axis(begin, end time.Duration, columns int) string {
	left, right := begin.Round(time.Millisecond).String(), end.Round(time.Millisecond).String()
	return left + strings.Repeat(" ", max(1, columns-len(left)-len(right))) + right
}
