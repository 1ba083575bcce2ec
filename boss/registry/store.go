package registry

import (
	"context"
	"errors"
	"io"
	"time"
)

// Errors of stores.
var (
	// ErrStale: the entry has another revision than the writer expected.
	ErrStale = errors.New("the lambda has been changed meanwhile")
	// ErrNotFound: there is no such entry or code.
	ErrNotFound = errors.New("no such lambda")
)

// Any is the revision of a write that does not care what was there.
const Any = ^uint64(0)

// Meta stores a small value for each lambda. A revision grows with every
// write of any entry; 0 is that of an entry that is not there.
type Meta interface {
	// Put writes the entry if it has the revision last, or always for Any; it
	// returns the new revision, or ErrStale.
	Put(ctx context.Context, name string, value []byte, last uint64) (uint64, error)
	// Delete removes the entry likewise.
	Delete(ctx context.Context, name string, last uint64) error
	// Epoch is when the store was made, by its own clock: one that takes the
	// place of another, and counts revisions anew, has a later one.
	Epoch(ctx context.Context) (uint64, error)
	// Watch sends every entry that is there, then one Change without a name,
	// then every change, in the order of revisions. The channel is closed when ctx ends or the store is
	// lost; watching again starts from the beginning.
	Watch(ctx context.Context) (<-chan Change, error)
}

// Change is an entry that is there, or that was removed.
type Change struct {
	Name     string // "": everything that was there has been sent
	Value    []byte // nil: removed
	Revision uint64
}

// Code stores archives by their digest (SHA-256, hexadecimal). What is stored
// does not change.
type Code interface {
	Put(ctx context.Context, digest string, archive io.Reader) error
	Get(ctx context.Context, digest string) (io.ReadCloser, error) // or ErrNotFound
	Delete(ctx context.Context, digest string) error
	List(ctx context.Context) ([]Stored, error)
}

// FreshEnough is the age up to which code that is there already need not be
// stored again: far from that at which it may be swept.
const FreshEnough = 10 * time.Minute

// Stored is code that is there.
type Stored struct {
	Digest     string
	AgeSeconds float64 // since it was put
}
