package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/worker/dispatch"
)

// exchange is one invocation: what is sent to the sandbox, and how its answer
// goes to the client. It is a dispatch.Exchange.
type exchange struct {
	server *Server
	w      http.ResponseWriter
	in     *http.Request
	id     string
	calls  Calls  // nil unless the lambda may call others
	called func() // ends what Calls knows of the request; nil if it knows nothing

	head     []byte      // of the body
	rest     *restReader // nil: head is all
	streamed atomic.Bool // rest was touched: the request cannot be sent again

	mu       sync.Mutex // the transport may read the body after it has failed
	fault    error
	tooLarge error // a *http.MaxBytesError, if that was the fault

	status int
	begun  bool // the answer's header was written
}

// note keeps the failure to read from the client.
func (x *exchange) note(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fault == nil {
		x.fault = err
	}
}

// clientFault wraps a failure to read the request.
func (x *exchange) clientFault(err error) error {
	return fmt.Errorf("read request: %w", errors.Join(dispatch.ErrClientGone, err))
}

// Fault is part of dispatch.Exchange.
func (x *exchange) Fault() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var large *http.MaxBytesError
	if errors.As(x.fault, &large) {
		x.tooLarge = large
	}
	return x.fault
}

// Request is part of dispatch.Exchange. The lambda sees the path and query
// that the client sent.
func (x *exchange) Request(ctx context.Context, g *dispatch.Grant) (*http.Request, bool) {
	body, ok := x.body()
	if !ok {
		return nil, false
	}
	if x.calls != nil {
		x.endCalls()
		x.called = x.calls.Begin(ctx, g.Sandbox, x.id, x.in)
	}
	in := x.in
	length := in.ContentLength
	if x.rest == nil {
		length = int64(len(x.head))
	}
	out := &http.Request{
		Method: in.Method,
		URL:    &url.URL{Scheme: "http", Host: "sandbox", Path: in.URL.Path, RawPath: in.URL.RawPath, RawQuery: in.URL.RawQuery, ForceQuery: in.URL.ForceQuery},
		Proto:  "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: forward(in, x.id), Body: body, ContentLength: length, Host: in.Host,
	}
	if deadline, ok := in.Context().Deadline(); ok { // what is left of api.HeaderTimeout
		out.Header.Set(api.HeaderTimeout, strconv.FormatInt(max(1, time.Until(deadline).Milliseconds()), 10))
	}
	return out.WithContext(ctx), true
}

// endCalls keeps the sandbox from calling others on the request's behalf.
func (x *exchange) endCalls() {
	if x.called != nil {
		x.called()
		x.called = nil
	}
}

// Answer is part of dispatch.Exchange.
func (x *exchange) Answer(resp *http.Response, g *dispatch.Grant) error {
	buf := x.server.buffers.get()
	defer x.server.buffers.put(buf)
	// With a known length the first bytes are due now: a sandbox that dies
	// before them is still answered properly.
	n, err := 0, error(nil)
	if resp.ContentLength > 0 && x.in.Method != http.MethodHead {
		if n, err = resp.Body.Read(*buf); n == 0 && err != nil {
			return fmt.Errorf("read answer: %w", unexpected(err))
		}
	}
	x.writeHeader(resp, g)
	stream := resp.ContentLength < 0
	if stream {
		x.flush()
	}
	return x.copy(resp, *buf, n, err, stream)
}

// copy passes the body on: n bytes are in buf already, with err.
func (x *exchange) copy(resp *http.Response, buf []byte, n int, err error, stream bool) error {
	for {
		if n > 0 {
			if _, werr := x.w.Write(buf[:n]); werr != nil {
				return fmt.Errorf("write answer: %w", errors.Join(dispatch.ErrClientGone, werr))
			}
			if stream {
				x.flush()
			}
		}
		if errors.Is(err, io.EOF) {
			for k, vs := range resp.Trailer {
				x.w.Header()[http.TrailerPrefix+k] = vs
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		n, err = resp.Body.Read(buf)
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (x *exchange) writeHeader(resp *http.Response, g *dispatch.Grant) {
	h := x.w.Header()
	answerHeader(h, resp.Header)
	h[api.HeaderStart] = []string{g.Start.String()}
	h[api.HeaderRequestID] = []string{x.id}
	h[api.HeaderWorker] = []string{x.server.cfg.Worker}
	h[api.HeaderTiming] = append(h[api.HeaderTiming], timing(g, time.Since(g.Began)))
	x.status, x.begun = resp.StatusCode, true
	x.w.WriteHeader(resp.StatusCode)
}

// flush sends what was written. A client that is gone shows at the next write.
func (x *exchange) flush() {
	if f, ok := x.w.(http.Flusher); ok {
		f.Flush()
	}
}
