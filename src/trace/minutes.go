package trace

import (
	"cmp"
	"slices"
	"time"
)

// PerMinute makes a workload of per-minute rows: what Expand draws, but one
// minute at a time, so that memory does not grow with the number of minutes.
func PerMinute(name string, functions []Function, o Options, m Model) (Workload, error) {
	last, err := o.last(functions)
	if err != nil {
		return Workload{}, err
	}
	profiles := m.Profiles(functions)
	span := time.Duration(last-o.First) * time.Minute
	return Workload{Name: name, Span: span, Open: func() (Stream, error) {
		return &minutes{functions: functions, profiles: profiles, o: o, minute: o.First, last: last}, nil
	}}, nil
}

// last returns the minute after the last one taken.
func (o Options) last(functions []Function) (int, error) {
	last := o.First + o.Minutes
	if o.Minutes == 0 {
		for _, f := range functions {
			last = max(last, len(f.PerMinute))
		}
	}
	for _, f := range functions {
		if err := o.check(f, last); err != nil {
			return 0, err
		}
	}
	return last, nil
}

// minutes draws the invocations of one minute after the other.
type minutes struct {
	functions    []Function
	profiles     []Profile
	o            Options
	minute, last int
	buf          []Invocation
	next         int
}

func (s *minutes) Functions() []Profile { return s.profiles }
func (s *minutes) Close() error         { return nil }

func (s *minutes) Next(out *Invocation) (bool, error) {
	for s.next == len(s.buf) {
		if s.minute == s.last {
			return false, nil
		}
		s.fill()
	}
	*out = s.buf[s.next]
	s.next++
	return true, nil
}

func (s *minutes) fill() {
	s.buf, s.next = s.buf[:0], 0
	begin := time.Duration(s.minute-s.o.First) * time.Minute
	for i := range s.functions {
		s.buf = s.functions[i].expand(s.buf, i, s.minute, begin, s.o)
	}
	slices.SortFunc(s.buf, byTime)
	s.minute++
}

// byTime is a total order but for invocations that are alike.
func byTime(a, b Invocation) int {
	switch { // the time nearly always decides; comparing the rest as well cost a tenth of a simulation
	case a.At < b.At:
		return -1
	case a.At > b.At:
		return 1
	}
	return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.Exec, b.Exec))
}
