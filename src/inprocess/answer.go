package inprocess

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/open-lambda/open-lambda/src/api"
)

// Answer is what a handler answered.
type Answer struct {
	Status int
	Header http.Header // as it was when the status was written
	Bytes  int64       // of the body, kept or not
	Broken bool        // it broke off: nothing else counts

	body bytes.Buffer
	most int64
}

// Body is the answer's body; false if it had more bytes than are kept.
func (a *Answer) Body() ([]byte, bool) {
	if a.Bytes > a.most {
		return nil, false
	}
	return a.body.Bytes(), true
}

// NotStarted tells whether nothing was begun.
func (a *Answer) NotStarted() bool { return !a.Broken && api.NotStarted(a.Status, a.Header) }

// Failed tells whether the invocation should be tried again: the answer broke
// off, or is 429 or one of 500 and more. A lambda's own 5xx counts like the
// platform's: an exception in it is a 500.
func (a *Answer) Failed() bool {
	return a.Broken || a.Status >= http.StatusInternalServerError || a.Status == http.StatusTooManyRequests
}

// Fault says in a few words what was wrong.
func (a *Answer) Fault() string {
	if a.Broken {
		return "the answer broke off"
	}
	return fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status))
}

// writer is the http.ResponseWriter of an answer.
type writer struct {
	answer *Answer
	header http.Header
}

// Header is part of http.ResponseWriter.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader is part of http.ResponseWriter. Informational answers are passed
// over; headers that follow are trailers.
func (w *writer) WriteHeader(status int) {
	if w.answer.Status == 0 && status >= http.StatusOK {
		w.answer.Status, w.answer.Header = status, w.header.Clone()
	}
}

// Write keeps what fits.
func (w *writer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	a := w.answer
	a.Bytes += int64(len(p))
	if a.Bytes <= a.most {
		a.body.Write(p)
	}
	return len(p), nil
}

// Flush is part of http.Flusher: there is nobody to flush to.
func (*writer) Flush() {}

// Request is an invocation.
type Request struct {
	Method string
	Target string // path and query
	Host   string
	Remote string // the client's address and port; "": there is none
	Header http.Header
	Body   []byte
}

// make makes a request as a server hands it to its handler.
func (r Request) make(ctx context.Context) (*http.Request, error) {
	u, err := url.ParseRequestURI(r.Target)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	// A proxy breaks off its answer, as a server expects, only below a server.
	ctx = context.WithValue(ctx, http.ServerContextKey, &http.Server{})
	h := r.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	out := &http.Request{
		Method: r.Method, URL: u, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Host: r.Host, RemoteAddr: r.Remote,
		RequestURI: r.Target, Body: http.NoBody, ContentLength: int64(len(r.Body)),
	}
	if len(r.Body) > 0 {
		out.Body = io.NopCloser(bytes.NewReader(r.Body))
	}
	return out.WithContext(ctx), nil
}

// Call has a handler answer a request, and keeps at most so many bytes of the
// answer's body.
func Call(ctx context.Context, h http.Handler, r Request, most int64) (*Answer, error) {
	req, err := r.make(ctx)
	if err != nil {
		return nil, err
	}
	a := &Answer{most: most}
	w := &writer{a, http.Header{}}
	a.Broken = serve(h, w, req)
	if !a.Broken {
		w.WriteHeader(http.StatusOK) // if the handler wrote nothing
	}
	return a, nil
}

// serve runs a handler; true if it broke off the answer.
func serve(h http.Handler, w http.ResponseWriter, r *http.Request) (broken bool) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			broken = true
		} else if p != nil {
			panic(p)
		}
	}()
	h.ServeHTTP(w, r)
	return false
}
