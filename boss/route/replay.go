package route

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// replay is a request's body that can be sent again as long as what was read
// of it fits a buffer.
type replay struct {
	src io.Reader
	max int

	reading sync.Mutex // held while src is read; taken before mu

	mu   sync.Mutex // the transport may still read after its answer
	turn int        // the attempt that may read
	kept []byte
	over bool  // more was read than is kept
	err  error // of src; io.EOF at its end
}

func newReplay(body io.ReadCloser, most int) *replay {
	if body == nil || body == http.NoBody {
		return &replay{}
	}
	return &replay{src: body, max: most}
}

// wholeReplay is a body that is in memory.
func wholeReplay(body []byte) *replay { return &replay{kept: body, err: io.EOF} }

// whole returns a body that is in memory.
func (r *replay) whole() io.ReadCloser {
	if len(r.kept) == 0 {
		return http.NoBody
	}
	return io.NopCloser(bytes.NewReader(r.kept)) // which net/http writes in one piece with the header
}

// attempt returns the body for the next attempt. The transport repeats some
// requests without a body by itself if a connection breaks, at a time when the
// worker may have begun: it does not if it cannot know that the body is empty.
func (r *replay) attempt(method string) io.ReadCloser {
	if r.src == nil {
		switch method {
		case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
			return &empty{}
		}
		return http.NoBody
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	return &attemptBody{replay: r, turn: r.turn}
}

// rewind tells whether the body can be sent again from its beginning.
func (r *replay) rewind() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.over && (r.err == nil || r.err == io.EOF)
}

// fault is why the client's body could not be read, nil if it could.
func (r *replay) fault() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == io.EOF {
		return nil
	}
	return r.err
}

// empty is a body of no bytes that does not look like one.
type empty struct{}

func (*empty) Read([]byte) (int, error) { return 0, io.EOF }
func (*empty) Close() error             { return nil }

// attemptBody is the body as one attempt reads it.
type attemptBody struct {
	replay *replay
	turn   int
	at     int // in replay.kept
}

// Read reads what was kept, then the client.
func (b *attemptBody) Read(p []byte) (int, error) {
	r := b.replay
	r.reading.Lock()
	defer r.reading.Unlock()
	if n, err, ok := b.again(p); ok {
		return n, err
	}
	n, err := r.src.Read(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(p[:n])
	b.at += n
	r.err = err
	return n, err
}

// again answers a read without the client, if it can.
func (b *attemptBody) again(p []byte) (int, error, bool) {
	r := b.replay
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.turn != b.turn:
		return 0, http.ErrBodyReadAfterClose, true
	case b.at < len(r.kept):
		n := copy(p, r.kept[b.at:])
		b.at += n
		return n, nil, true
	}
	return 0, r.err, r.err != nil
}

// keep remembers what was read, until that is too much. mu is held.
func (r *replay) keep(p []byte) {
	switch {
	case r.over:
	case len(r.kept)+len(p) > r.max:
		r.over, r.kept = true, nil
	default:
		r.kept = append(r.kept, p...)
	}
}

// Close leaves the client's body alone: another attempt may follow, and its
// server closes it.
func (b *attemptBody) Close() error { return nil }
