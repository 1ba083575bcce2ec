package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Bar is one claim about performance, and what was measured.
type Bar struct {
	Name  string  `json:"name"`
	Have  float64 `json:"have"`
	Least bool    `json:"least"` // Have must be at least Limit, else at most
	Limit float64 `json:"limit"`
	Unit  string  `json:"unit"` // of Have and Limit: "x" for a ratio

	// Low and High bound Have with 95 % confidence each; zero for a bar that is
	// judged by Have alone. One with bounds is missed only if they say so.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`

	// Times are the measurements behind Have, in their own unit; zero where a
	// bar does not come from times.
	Times Times  `json:"times"`
	Note  string `json:"note,omitempty"` // what it was compared with
	Err   string `json:"error,omitempty"`
}

// Times describes a set of durations.
type Times struct {
	N      int           `json:"n"`
	Median time.Duration `json:"median_ns"`
	P99    time.Duration `json:"p99_ns"`
}

// Met tells whether the claim holds.
func (b Bar) Met() bool {
	switch {
	case b.Err != "":
		return false
	case b.Least:
		return max(b.Have, b.High) >= b.Limit
	case b.Low > 0:
		return b.Low <= b.Limit
	}
	return b.Have <= b.Limit
}

// AtMost is a bar on a figure that must not be above a limit.
func AtMost(name string, have, limit float64, unit string) Bar {
	return Bar{Name: name, Have: have, Limit: limit, Unit: unit}
}

// AtLeast is a bar on a figure that must not be below a limit.
func AtLeast(name string, have, limit float64, unit string) Bar {
	return Bar{Name: name, Have: have, Limit: limit, Unit: unit, Least: true}
}

// Failed is a bar that could not be measured, which is a miss.
func Failed(name string, err error) Bar { return Bar{Name: name, Err: err.Error()} }

// With adds the measurements behind a bar.
func (b Bar) With(t Times, note string) Bar {
	b.Times, b.Note = t, note
	return b
}

// Between adds the bounds of a figure that is an estimate.
func (b Bar) Between(low, high float64) Bar {
	b.Low, b.High = low, high
	return b
}

// Relax is the factor by which an absolute bar is stretched on a slow machine:
// how much slower its floor is than the reference, never less than 1.
func Relax(floor, reference time.Duration) float64 {
	return max(1, float64(floor)/float64(reference))
}

// Write prints bars as a table, one line each.
func Write(w io.Writer, bars []Bar) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "\tbar\tmeasured\tlimit\tn\tmedian\tp99\t")
	for _, b := range bars {
		verdict := "ok"
		if !b.Met() {
			verdict = "MISS"
		}
		if b.Err != "" {
			fmt.Fprintf(t, "%s\t%s\tnot measured: %s\t\t\t\t\t\n", verdict, b.Name, b.Err)
			continue
		}
		sign := "<="
		if b.Least {
			sign = ">="
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s %s\t%s\t%s\t%s\t%s\n", verdict, b.Name,
			b.measured(), sign, figure(b.Limit), count(b.Times.N), span(b.Times.Median), span(b.Times.P99), b.Note)
	}
	return t.Flush()
}

func (b Bar) measured() string {
	text := figure(b.Have) + " " + b.Unit
	if b.High > 0 {
		text += fmt.Sprintf(" (%s to %s)", figure(b.Low), figure(b.High))
	}
	return text
}

func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func count(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func span(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < 10*time.Microsecond:
		return d.String()
	case d < 10*time.Millisecond:
		return d.Round(time.Microsecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}

// Missed counts the bars that do not hold.
func Missed(bars []Bar) int {
	n := 0
	for _, b := range bars {
		if !b.Met() {
			n++
		}
	}
	return n
}
