package fake

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// answer is a handler's answer as it is written, read by the other side.
type answer struct {
	req      *http.Request
	cancel   context.CancelCauseFunc
	header   http.Header
	status   int
	once     sync.Once
	started  chan struct{} // header written
	finished chan struct{} // handler returned
	pr       *io.PipeReader
	pw       *io.PipeWriter
}

func newAnswer(r *http.Request, cancel context.CancelCauseFunc) *answer {
	a := &answer{req: r, cancel: cancel, header: http.Header{}, started: make(chan struct{}), finished: make(chan struct{})}
	a.pr, a.pw = io.Pipe()
	return a
}

func (a *answer) serve(h http.Handler, r *http.Request) {
	defer close(a.finished)
	stop := context.AfterFunc(r.Context(), func() { a.pw.CloseWithError(context.Cause(r.Context())) })
	defer stop()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	h.ServeHTTP(a, r)
	a.WriteHeader(http.StatusOK)
	a.pw.Close()
}

// Header is part of http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader is part of http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.once.Do(func() {
		a.status = status
		close(a.started)
	})
}

// Write is part of http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.pw.Write(p)
}

// Flush is part of http.Flusher: writes are never held back.
func (a *answer) Flush() {}

func (a *answer) response(exited <-chan struct{}) *http.Response {
	length := int64(-1)
	if v := a.header.Get("Content-Length"); v != "" {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			length = n
		}
	}
	b := &body{a: a, gone: make(chan struct{})}
	b.wait.Go(func() {
		select {
		case <-exited:
			a.pw.CloseWithError(errDied)
			a.cancel(errDied)
		case <-b.gone:
		}
	})
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header.Clone(), ContentLength: length, Body: b, Request: a.req,
	}
}

// body is read by the worker; closing it early cuts the handler, as closing
// the connection does.
type body struct {
	a    *answer
	gone chan struct{}
	once sync.Once
	wait sync.WaitGroup
}

func (b *body) Read(p []byte) (int, error) { return b.a.pr.Read(p) }

func (b *body) Close() error {
	b.once.Do(func() {
		close(b.gone)
		b.wait.Wait()
		b.a.pr.CloseWithError(errors.New("connection closed"))
		b.a.cancel(context.Canceled)
		<-b.a.finished
	})
	return nil
}
