package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// smallBody is the largest body that is written before the answer is read. A
// socket's buffer holds it, so a runtime that answers early cannot block us.
const smallBody = 64 << 10

// exchange is one request on one connection.
type exchange struct {
	t       *Transport
	c       *conn
	ctx     context.Context //nolint:containedctx // the request's own, for the cause of its end
	stop    func() bool     // ends the watch on ctx; false: the connection was cut
	writing chan error      // of a large body's writer; nil: all is written
}

func (x *exchange) run(req *http.Request) (*http.Response, error) {
	if small(req) {
		if err := x.write(req); err != nil {
			return nil, err
		}
	} else {
		x.writing = make(chan error, 1)
		go func() { x.writing <- x.write(req) }() // waited for in settle and abort
	}
	resp, err := x.read(req)
	if err != nil {
		return nil, x.blame(err)
	}
	if resp.Body == http.NoBody {
		x.settle(!resp.Close)
		return resp, nil
	}
	resp.Body = &body{x: x, r: resp.Body, keep: !resp.Close}
	return resp, nil
}

// small tells whether a request can be written before the answer is read. A
// length of 0 with a body means an unknown length (http.Request).
func small(req *http.Request) bool {
	if req.Body == nil || req.Body == http.NoBody {
		return true
	}
	return req.ContentLength > 0 && req.ContentLength <= smallBody
}

func (x *exchange) write(req *http.Request) error {
	if err := req.Write(x.c.w); err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	if err := x.c.w.Flush(); err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	return nil
}

// maxHeader bounds the header of an answer, with the interim answers before it,
// bytes. net/http reads as much as it is sent.
const maxHeader = 1 << 20

var errLongHeader = fmt.Errorf("the header has more than %d bytes", maxHeader)

// read reads the answer's header, past interim answers. A server that switches
// protocols does so unasked: what followed would be nobody's answer.
func (x *exchange) read(req *http.Request) (*http.Response, error) {
	x.c.inHead, x.c.head = true, maxHeader
	defer func() { x.c.inHead = false }()
	for {
		resp, err := http.ReadResponse(x.c.r, req)
		switch {
		case err != nil:
			return nil, fmt.Errorf("read answer: %w", unexpected(err))
		case resp.StatusCode >= http.StatusOK:
			return resp, nil
		case resp.StatusCode < http.StatusContinue || resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, fmt.Errorf("read answer: status %d is none", resp.StatusCode)
		}
	}
}

// blame prefers the failure to write a large body, which explains that no
// answer came.
func (x *exchange) blame(err error) error {
	if x.writing == nil {
		return err
	}
	select {
	case werr := <-x.writing:
		x.writing = nil
		return errors.Join(werr, err)
	default:
		return err
	}
}

// settle ends an exchange whose answer was read to the end.
func (x *exchange) settle(keep bool) {
	if x.writing != nil {
		select {
		case err := <-x.writing:
			x.writing = nil
			keep = keep && err == nil
		default:
			keep = false // the runtime answered without reading everything
		}
	}
	if keep && x.stop() {
		x.t.put(x.c)
		return
	}
	x.abort()
}

// abort breaks the connection and waits for the writer.
func (x *exchange) abort() {
	x.stop()
	x.t.release()
	_ = x.c.Close() // the answer, or its error, is what counts
	if x.writing != nil {
		<-x.writing
		x.writing = nil
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// body is the answer's body. At its end the connection is free; closing it
// before breaks the connection.
type body struct {
	x    *exchange
	r    io.ReadCloser
	keep bool
	done bool
}

// Read reads the answer.
func (b *body) Read(p []byte) (int, error) {
	if b.done {
		return 0, io.EOF
	}
	n, err := b.r.Read(p)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		b.done = true
		b.x.settle(b.keep)
	default:
		if cause := context.Cause(b.x.ctx); cause != nil {
			err = errors.Join(cause, err)
		}
	}
	return n, err
}

// Close gives the rest of the answer up.
func (b *body) Close() error {
	if !b.done {
		b.done = true
		b.x.abort()
	}
	return nil
}
