package events

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/open-lambda/open-lambda/src/api"
)

// Log hands events to readers. The zero value is ready; a nil one has no
// readers.
type Log struct {
	reading atomic.Int32 // readers

	mu      sync.Mutex
	readers map[*Reader]struct{}
}

// On tells whether anybody reads, so that an event need not be made in vain.
func (l *Log) On() bool { return l != nil && l.reading.Load() > 0 }

// Add hands an event to every reader.
func (l *Log) Add(e api.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range l.readers {
		r.add(e)
	}
}

// Read begins to read: what is added from now on. At most so many events wait
// for the reader.
func (l *Log) Read(most int) *Reader {
	r := &Reader{log: l, most: most, more: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers == nil {
		l.readers = map[*Reader]struct{}{}
	}
	l.readers[r] = struct{}{}
	l.reading.Add(1)
	return r
}

// Reader reads a log. It is not safe for concurrent use.
type Reader struct {
	log  *Log
	most int
	more chan struct{} // holds one token if there may be more

	// Guarded by Log.mu.
	waiting []api.Event
	lost    bool
}

func (r *Reader) add(e api.Event) {
	if len(r.waiting) >= r.most {
		r.lost = true
		return
	}
	if r.lost {
		r.waiting = append(r.waiting, api.Event{At: e.At, Kind: api.EventLost})
		r.lost = false
	}
	r.waiting = append(r.waiting, e)
	select {
	case r.more <- struct{}{}:
	default:
	}
}

// Next waits for events and returns all that are there, in order. The error is
// that of ctx. The slice may be given back for the next call.
func (r *Reader) Next(ctx context.Context, spare []api.Event) ([]api.Event, error) {
	for {
		r.log.mu.Lock()
		got := r.waiting
		r.waiting = spare[:0]
		r.log.mu.Unlock()
		if len(got) > 0 {
			return got, nil
		}
		spare = got
		select {
		case <-r.more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close ends reading.
func (r *Reader) Close() {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	if _, ok := r.log.readers[r]; ok {
		delete(r.log.readers, r)
		r.log.reading.Add(-1)
	}
}
