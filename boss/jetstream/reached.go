package jetstream

import (
	"context"
	"fmt"
	"sync/atomic"
)

// reached is a part of the store that is made, or found, when it is first
// needed. Whoever comes meanwhile waits for as long as its own patience lasts.
type reached[T any] struct {
	part atomic.Pointer[T]
	turn chan struct{} // holds a token while somebody tries
}

func newReached[T any]() *reached[T] { return &reached[T]{turn: make(chan struct{}, 1)} }

func (r *reached[T]) get(ctx context.Context, make func() (T, error)) (T, error) {
	if p := r.part.Load(); p != nil {
		return *p, nil
	}
	var none T
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return none, fmt.Errorf("reach store: %w", context.Cause(ctx))
	}
	if p := r.part.Load(); p != nil {
		return *p, nil
	}
	part, err := make()
	if err != nil {
		return none, fmt.Errorf("reach store: %w", err)
	}
	r.part.Store(&part)
	return part, nil
}
