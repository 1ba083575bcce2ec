package memory

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/boss/async"
)

// States is an async.States.
type States struct {
	mu       sync.Mutex
	down     bool
	revision uint64
	entries  map[string]entry
}

type entry struct {
	value    []byte
	revision uint64
	end      time.Time // zero: never
}

// NewStates makes empty states.
func NewStates() *States { return &States{entries: map[string]entry{}} }

// SetDown takes the states away, or gives them back.
func (s *States) SetDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// at finds an entry that has not expired. mu is held.
func (s *States) at(key string) (entry, bool) {
	e, ok := s.entries[key]
	if ok && !e.end.IsZero() && !time.Now().Before(e.end) {
		delete(s.entries, key)
		return entry{}, false
	}
	return e, ok
}

// Get is part of async.States.
func (s *States) Get(_ context.Context, key string) ([]byte, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, 0, ErrDown
	}
	e, ok := s.at(key)
	if !ok {
		return nil, 0, async.ErrNotFound
	}
	return bytes.Clone(e.value), e.revision, nil
}

// Put is part of async.States.
func (s *States) Put(_ context.Context, key string, value []byte, last uint64, ttl time.Duration) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return 0, ErrDown
	}
	if e, _ := s.at(key); e.revision != last {
		return 0, async.ErrStale
	}
	s.revision++
	e := entry{value: bytes.Clone(value), revision: s.revision}
	if ttl > 0 {
		e.end = time.Now().Add(ttl)
	}
	s.entries[key] = e
	return s.revision, nil
}

// Delete is part of async.States.
func (s *States) Delete(_ context.Context, key string, last uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return ErrDown
	}
	if e, _ := s.at(key); e.revision != last {
		return async.ErrStale
	}
	delete(s.entries, key)
	return nil
}

// List is part of async.States.
func (s *States) List(_ context.Context, prefix string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, ErrDown
	}
	var all []string
	for key := range s.entries {
		if _, ok := s.at(key); ok && strings.HasPrefix(key, prefix) {
			all = append(all, key)
		}
	}
	return all, nil
}
