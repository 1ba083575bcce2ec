package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// bufferMax is the largest body that is read before the request waits.
const bufferMax = 1 << 20

func megabytes(n int64) string { return strconv.FormatInt(n>>20, 10) + " MB" }

// readBody reads the request's body, or its beginning if it is long.
func (x *exchange) readBody(limit int64) error {
	r := x.in
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil
	}
	if r.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	head, whole, err := readHead(r.Body, r.ContentLength)
	if err != nil {
		return x.clientFault(err)
	}
	if int64(len(head)) > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	x.head = head
	if !whole {
		x.rest = &restReader{x: x, left: limit - int64(len(head))}
	}
	return nil
}

// readHead reads up to bufferMax bytes, or one more; whole tells that there are no more.
func readHead(r io.Reader, length int64) (head []byte, whole bool, err error) {
	if length >= 0 && length <= bufferMax {
		head = make([]byte, length)
		if _, err = io.ReadFull(r, head); err != nil {
			return nil, false, err
		}
		// Reading the end lets net/http watch the connection.
		_, err = r.Read(make([]byte, 1))
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, false, err
		}
		return head, true, nil
	}
	head, err = io.ReadAll(io.LimitReader(r, bufferMax+1))
	return head, err == nil && len(head) <= bufferMax, err
}

// restReader reads what follows the head from the client, up to a limit. It
// notes who is to blame for an error.
type restReader struct {
	x    *exchange
	left int64
}

func (b *restReader) Read(p []byte) (int, error) {
	b.x.streamed.Store(true)
	n, err := b.x.in.Body.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		e := &http.MaxBytesError{Limit: b.x.server.cfg.MaxBody}
		b.x.note(e)
		return 0, e
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.x.note(err)
	}
	return n, err
}

// body returns the reader for one attempt, false if the body is used up.
func (x *exchange) body() (io.ReadCloser, bool) {
	switch {
	case x.rest != nil && x.streamed.Load():
		return nil, false
	case x.rest != nil:
		return io.NopCloser(io.MultiReader(bytes.NewReader(x.head), x.rest)), true
	case len(x.head) == 0:
		return http.NoBody, true
	}
	return io.NopCloser(bytes.NewReader(x.head)), true
}
