package trace

import (
	"math"
	"time"
)

// Profile is what a simulation must know of a function.
type Profile struct {
	Name string
	MB   int64         // memory of a sandbox, at least 1
	Cold time.Duration // from the start of a sandbox to ready
	// ColdSigma spreads the starts of the function: each takes Cold times a
	// log-normal factor with this sigma and median 1. 0 makes them alike.
	ColdSigma float64
}

// Stream yields invocations in order of time.
type Stream interface {
	// Next stores the next invocation and returns true, or returns false at
	// the end. After an error or the end it must not be called again.
	Next(*Invocation) (bool, error)
	// Functions returns the functions met so far. Invocation.Function indexes
	// it; it only grows.
	Functions() []Profile
	// Close releases what the stream reads from.
	Close() error
}

// Workload can be streamed any number of times, each time alike.
type Workload struct {
	Name string
	Note string        // what a reader of results must know of the data, "" if nothing
	Span time.Duration // its length; 0 means that it ends with its last invocation
	Open func() (Stream, error)
}

// Model says what a sandbox of a function costs. The zero value is not useful:
// see DefaultModel.
type Model struct {
	MemScale  float64       // factor on the memory of the trace
	ColdPerMB time.Duration // cold start per MB, before scaling
}

// DefaultModel takes the memory as it is, and 1.7 ms per MB, which gives the
// mean cold start of the CIDRE paper for its mean memory.
func DefaultModel() Model { return Model{MemScale: 1, ColdPerMB: 1700 * time.Microsecond} }

// Profile applies the model to a function.
func (m Model) Profile(name string, memMB float64) Profile {
	mb := int64(memMB * m.MemScale)
	if float64(mb) < memMB*m.MemScale {
		mb++
	}
	return Profile{Name: name, MB: max(1, mb), Cold: time.Duration(memMB * float64(m.ColdPerMB))}
}

// Profiles applies the model to all functions.
func (m Model) Profiles(functions []Function) []Profile {
	all := make([]Profile, len(functions))
	for i, f := range functions {
		all[i] = m.Profile(f.ID, f.MemMB)
	}
	return all
}

// slice streams invocations that are in memory.
type slice struct {
	functions []Profile
	all       []Invocation
	next      int
}

func (s *slice) Next(out *Invocation) (bool, error) {
	if s.next == len(s.all) {
		return false, nil
	}
	*out = s.all[s.next]
	s.next++
	return true, nil
}

func (s *slice) Functions() []Profile { return s.functions }
func (s *slice) Close() error         { return nil }

// FromSlice makes a workload of invocations in order of time. It keeps both
// slices and changes neither.
func FromSlice(name string, span time.Duration, functions []Profile, all []Invocation) Workload {
	return Workload{Name: name, Span: span, Open: func() (Stream, error) {
		return &slice{functions: functions, all: all}, nil
	}}
}

// Collect reads a workload into memory.
func Collect(w Workload) ([]Profile, []Invocation, error) {
	return CollectUntil(w, math.MaxInt64)
}

// CollectUntil reads the invocations before a moment into memory, with the
// functions that were met until then.
func CollectUntil(w Workload, end time.Duration) ([]Profile, []Invocation, error) {
	s, err := w.Open()
	if err != nil {
		return nil, nil, err
	}
	var all []Invocation
	var inv Invocation // outside: it escapes
	for {
		ok, err := s.Next(&inv)
		if err != nil {
			_ = s.Close() // the first error is the one to report
			return nil, nil, err
		}
		if !ok || inv.At >= end {
			return s.Functions(), all, s.Close()
		}
		all = append(all, inv)
	}
}
