package async

import (
	"context"
	"errors"
	"time"
)

// Errors of stores.
var (
	// ErrFull: the queue takes no more now.
	ErrFull = errors.New("the queue of asynchronous invocations is full")
	// ErrTooLarge: the store takes no value of this size.
	ErrTooLarge = errors.New("more bytes than the store takes")
	// ErrNotFound: there is no such entry.
	ErrNotFound = errors.New("no such asynchronous invocation")
	// ErrStale: the entry has another revision than the writer expected.
	ErrStale = errors.New("the state has changed meanwhile")
)

// Queue holds work until it is done. What was taken and is neither done nor
// told to be in progress within Lease comes again.
type Queue interface {
	// Put adds work, or returns ErrFull. The same id within a few minutes adds
	// nothing.
	Put(ctx context.Context, id string, work []byte) error
	// Take waits for work until ctx ends. It may return nothing before.
	Take(ctx context.Context) (Delivery, error)
	// Lease is how long work may be held without a word.
	Lease() time.Duration
}

// Delivery is work that was taken.
type Delivery interface {
	Work() []byte
	Done(ctx context.Context) error                       // it never comes again
	Later(ctx context.Context, after time.Duration) error // it comes again then
	Busy(ctx context.Context) error                       // it is in progress: begins a new lease
}

// States stores small values by key. A revision grows with every write; 0 is
// that of an entry that is not there.
type States interface {
	// Get returns an entry and its revision, or ErrNotFound.
	Get(ctx context.Context, key string) ([]byte, uint64, error)
	// Put writes an entry if it has the revision last, else ErrStale. It is
	// gone after ttl (whole seconds); 0 keeps it.
	Put(ctx context.Context, key string, value []byte, last uint64, ttl time.Duration) (uint64, error)
	// Delete removes an entry if it has the revision last, else ErrStale.
	Delete(ctx context.Context, key string, last uint64) error
	// List returns the keys that begin with prefix, which ends with a dot.
	List(ctx context.Context, prefix string) ([]string, error)
}
