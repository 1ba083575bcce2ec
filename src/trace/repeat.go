package trace

import (
	"fmt"
	"time"
)

// Repeat makes a workload that plays w n times, one after the other. w must
// have a span.
func Repeat(w Workload, n int) (Workload, error) {
	if n < 1 || w.Span <= 0 {
		return Workload{}, fmt.Errorf("repeat workload %s: %d times a span of %v", w.Name, n, w.Span)
	}
	return Workload{
		Name: w.Name, Note: w.Note, Span: time.Duration(n) * w.Span,
		Open: func() (Stream, error) {
			s, err := w.Open()
			return &repeated{Stream: s, w: w, left: n - 1}, err
		},
	}, nil
}

// repeated opens the workload anew when it has ended.
type repeated struct {
	Stream
	w     Workload
	left  int
	begin time.Duration
}

func (r *repeated) Next(out *Invocation) (bool, error) {
	for {
		ok, err := r.Stream.Next(out)
		if err != nil || ok || r.left == 0 {
			out.At += r.begin
			return ok, err
		}
		if err := r.Close(); err != nil {
			return false, err
		}
		if r.Stream, err = r.w.Open(); err != nil {
			return false, err
		}
		r.left--
		r.begin += r.w.Span
	}
}
