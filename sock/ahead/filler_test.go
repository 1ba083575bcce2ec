package ahead_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-lambda/open-lambda/sock/ahead"
)

// shelf is a stock of so many, whose making may fail.
type shelf struct {
	want int

	mu       sync.Mutex
	n, tries int
	fail     error
}

func (s *shelf) more() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries++
	if s.fail != nil || s.n >= s.want {
		return false, s.fail
	}
	s.n++
	return true, nil
}

func (s *shelf) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n--
}

func (s *shelf) mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = nil
}

func (s *shelf) counts() (n, tries int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n, s.tries
}

func run(t *testing.T, s *shelf) *ahead.Filler {
	f := ahead.New("test", s.more, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); f.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return f
}

func TestFillsAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{want: 5}
		run(t, s)
		synctest.Wait()
		if n, _ := s.counts(); n != 5 {
			t.Errorf("%d were made, want 5", n)
		}
	})
}

// While some are taken nothing is made, and all that is missing afterwards.
func TestWaitsUntilNobodyTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{want: 5}
		f := run(t, s)
		synctest.Wait()
		for range 5 {
			s.take()
			f.Taken()
			time.Sleep(29 * time.Millisecond)
			synctest.Wait()
		}
		if n, _ := s.counts(); n != 0 {
			t.Errorf("%d were made while others were taken", n)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if n, _ := s.counts(); n != 5 {
			t.Errorf("%d are there afterwards, want 5", n)
		}
	})
}

// One that cannot be made is tried again when the next is taken, not before.
func TestFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{want: 2, fail: errors.New("full")}
		f := run(t, s)
		time.Sleep(time.Hour)
		synctest.Wait()
		if _, tries := s.counts(); tries != 1 {
			t.Errorf("it was tried %d times, want once", tries)
		}
		s.mend()
		f.Taken()
		time.Sleep(time.Second)
		synctest.Wait()
		if n, _ := s.counts(); n != 2 {
			t.Errorf("%d were made, want 2", n)
		}
	})
}
