package memory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/boss/registry"
)

// ErrDown is what everything fails with while the store is taken away.
var ErrDown = errors.New("the store is down")

// Store is a registry.Meta; Code is its registry.Code.
type Store struct {
	epoch uint64

	mu       sync.Mutex
	revision uint64
	entries  map[string]registry.Change
	watchers map[*watcher]struct{}
	code     map[string]stored
	down     bool
}

type stored struct {
	bytes []byte
	put   time.Time
}

// watcher is one Watch: changes queue without bound, so that writers never
// wait.
type watcher struct {
	queue []registry.Change
	more  chan struct{}
	cut   bool
}

// New makes an empty store.
func New() *Store {
	return &Store{epoch: uint64(time.Now().UnixNano()), entries: map[string]registry.Change{}, watchers: map[*watcher]struct{}{}, code: map[string]stored{}}
}

// SetDown takes the store away, ending all watches, or gives it back.
func (s *Store) SetDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
	if down {
		for w := range s.watchers {
			w.cut = true
			w.poke()
		}
	}
}

func (w *watcher) poke() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// Put is part of registry.Meta.
func (s *Store) Put(_ context.Context, name string, value []byte, last uint64) (uint64, error) {
	return s.write(name, bytes.Clone(value), last)
}

// Delete is part of registry.Meta.
func (s *Store) Delete(_ context.Context, name string, last uint64) error {
	_, err := s.write(name, nil, last)
	return err
}

func (s *Store) write(name string, value []byte, last uint64) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return 0, ErrDown
	}
	if last != registry.Any && s.entries[name].Revision != last {
		return 0, registry.ErrStale
	}
	s.revision++
	c := registry.Change{Name: name, Value: value, Revision: s.revision}
	if value == nil {
		delete(s.entries, name)
	} else {
		s.entries[name] = c
	}
	for w := range s.watchers {
		w.queue = append(w.queue, c)
		w.poke()
	}
	return s.revision, nil
}

// Epoch is part of registry.Meta.
func (s *Store) Epoch(context.Context) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return 0, ErrDown
	}
	return s.epoch, nil
}

// Watch is part of registry.Meta.
func (s *Store) Watch(ctx context.Context) (<-chan registry.Change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, ErrDown
	}
	w := &watcher{more: make(chan struct{}, 1)}
	for _, c := range s.entries {
		w.queue = append(w.queue, c)
	}
	w.queue = append(w.queue, registry.Change{})
	w.poke()
	s.watchers[w] = struct{}{}
	out := make(chan registry.Change)
	// It ends with ctx, and the receiver sees the channel closed.
	go s.pump(ctx, w, out)
	return out, nil
}

func (s *Store) pump(ctx context.Context, w *watcher, out chan<- registry.Change) {
	defer close(out)
	for {
		batch, cut := s.next(w)
		for _, c := range batch {
			select {
			case out <- c:
			case <-ctx.Done():
				cut = true
			}
		}
		if !cut {
			select {
			case <-w.more:
				continue
			case <-ctx.Done():
			}
		}
		s.mu.Lock()
		delete(s.watchers, w)
		s.mu.Unlock()
		return
	}
}

func (s *Store) next(w *watcher) ([]registry.Change, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := w.queue
	w.queue = nil
	if w.cut {
		batch = nil
	}
	return batch, w.cut
}

// Code is the store's registry.Code.
func (s *Store) Code() *Code { return &Code{s} }

// Code is a registry.Code.
type Code struct{ s *Store }

// Put is part of registry.Code.
func (c *Code) Put(_ context.Context, digest string, r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.down {
		return ErrDown
	}
	c.s.code[digest] = stored{b, time.Now()}
	return nil
}

// Get is part of registry.Code.
func (c *Code) Get(_ context.Context, digest string) (io.ReadCloser, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	b, ok := c.s.code[digest]
	switch {
	case c.s.down:
		return nil, ErrDown
	case !ok:
		return nil, registry.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(b.bytes)), nil
}

// Delete is part of registry.Code.
func (c *Code) Delete(_ context.Context, digest string) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	delete(c.s.code, digest)
	return nil
}

// List is part of registry.Code.
func (c *Code) List(context.Context) ([]registry.Stored, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var out []registry.Stored
	for d, b := range c.s.code {
		out = append(out, registry.Stored{Digest: d, AgeSeconds: time.Since(b.put).Seconds()})
	}
	return out, nil
}
