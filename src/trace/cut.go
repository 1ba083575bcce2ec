package trace

import (
	"fmt"
	"time"
)

// CutError says that a recorded trace has nothing in the minutes that were
// asked for.
type CutError struct {
	Name           string
	First, Minutes int // as in Options
}

// Error names the minutes, counted from 1.
func (e *CutError) Error() string {
	if e.Minutes == 0 {
		return fmt.Sprintf("cut trace %s: it has no invocation from minute %d on", e.Name, e.First+1)
	}
	return fmt.Sprintf("cut trace %s: it has no invocation in minutes %d to %d", e.Name, e.First+1, e.First+e.Minutes)
}

// mostMinutes is longer than any trace (see mostSeconds), and twice as much is still a
// Duration.
const mostMinutes = 50_000_000

// cut takes the minutes of a workload that the options ask for; time begins
// with the first of them. Reading it fails with a *CutError if nothing is there.
func cut(w Workload, o Options) (Workload, error) {
	switch {
	case o.First < 0 || o.Minutes < 0:
		return w, fmt.Errorf("cut trace %s: %d minutes from minute %d on", w.Name, o.Minutes, o.First+1)
	case o.First == 0 && o.Minutes == 0:
		return w, nil
	}
	p := part{name: w.Name, o: o, from: minutesOf(o.First), to: 2 * minutesOf(mostMinutes)}
	if o.Minutes > 0 {
		p.to = p.from + minutesOf(o.Minutes)
	}
	if w.Span > 0 {
		w.Span = max(0, min(w.Span, p.to)-p.from)
	}
	whole := w.Open
	w.Open = func() (Stream, error) {
		s, err := whole()
		if err != nil {
			return nil, err
		}
		opened := p
		opened.Stream = s
		return &opened, nil
	}
	return w, nil
}

func minutesOf(n int) time.Duration { return time.Duration(min(n, mostMinutes)) * time.Minute }

// part streams what lies between two moments.
type part struct {
	Stream
	name     string
	o        Options
	from, to time.Duration
	some     bool // there was an invocation
}

// Next skips what comes before the part and ends with it.
func (p *part) Next(out *Invocation) (bool, error) {
	for {
		ok, err := p.Stream.Next(out)
		switch {
		case err != nil:
			return false, err
		case (!ok || out.At >= p.to) && !p.some:
			return false, &CutError{p.name, p.o.First, p.o.Minutes}
		case !ok || out.At >= p.to:
			return false, nil
		case out.At >= p.from:
			out.At -= p.from
			p.some = true
			return true, nil
		}
	}
}
