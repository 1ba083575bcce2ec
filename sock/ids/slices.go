package ids

import (
	"fmt"
	"sync"
)

// Slices hands out slices of a block, the lowest that is free. Slice 0 is not
// among them: it is the owner's.
type Slices struct {
	block *Block

	mu   sync.Mutex
	used []bool // by number - 1
}

// NewSlices cuts a block.
func NewSlices(b *Block) *Slices { return &Slices{block: b} }

// Slice is what one sandbox gets.
type Slice struct {
	Number int    // from 1, dense
	Offset uint32 // of its first id in the block
	First  uint32 // its first id
}

// Get takes a slice. It fails with ErrExhausted.
func (s *Slices) Get() (Slice, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, used := range s.used {
		if !used {
			s.used[i] = true
			return s.at(i + 1), nil
		}
	}
	if len(s.used)+1 >= int(s.block.Count/SliceSize) {
		return Slice{}, fmt.Errorf("take user ids: %d sandboxes have them: %w", len(s.used), ErrExhausted)
	}
	s.used = append(s.used, true)
	return s.at(len(s.used)), nil
}

func (s *Slices) at(n int) Slice {
	offset := uint32(n) * SliceSize
	return Slice{Number: n, Offset: offset, First: s.block.First + offset}
}

// Put gives a slice back. No process may have its ids any more.
func (s *Slices) Put(one Slice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used[one.Number-1] = false
}
