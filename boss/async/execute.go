package async

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/open-lambda/open-lambda/src/api"
)

// answer is what came of an attempt. It is the http.ResponseWriter that the
// invocation writes to.
type answer struct {
	header      http.Header
	status      int // 0: nothing was written
	body        bytes.Buffer
	bytes, most int64
	broken      bool // it broke off
	interrupted bool // by us
}

// Header is part of http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader is part of http.ResponseWriter. Informational answers are
// passed over.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
		a.header = a.header.Clone() // what follows are trailers
	}
}

// Write keeps what fits.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	a.bytes += int64(len(p))
	if a.bytes <= a.most {
		a.body.Write(p)
	}
	return len(p), nil
}

// Flush is part of http.Flusher: there is nobody to flush to.
func (*answer) Flush() {}

// into writes the answer into a record.
func (a *answer) into(r *record) {
	r.Status, r.Header, r.Bytes = a.status, a.header, a.bytes
	r.body, r.TooLarge = a.body.Bytes(), false
	if a.bytes > a.most {
		r.body, r.TooLarge = nil, true
	}
	if a.broken {
		r.Status, r.Header, r.body, r.TooLarge, r.Bytes = 0, nil, nil, false, 0
	}
}

// fault says in a few words what was wrong.
func (a *answer) fault() string {
	if a.broken {
		return "the answer broke off"
	}
	return fmt.Sprintf("%d %s", a.status, http.StatusText(a.status))
}

// execute runs a job once.
func (s *Service) execute(ctx context.Context, j *Job) *answer {
	a := &answer{header: http.Header{}, most: s.cfg.MaxResult}
	req, err := j.request(ctx)
	if err != nil { // it came from a request, so it makes one
		a.status = http.StatusInternalServerError
		a.body.WriteString(err.Error())
		return a
	}
	a.broken = serve(s.cfg.Run, a, req)
	a.interrupted = ctx.Err() != nil && (a.broken || a.status == 0 || a.status >= 400)
	if !a.broken && a.status == 0 {
		a.status = http.StatusOK
	}
	return a
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

// request is the job as a server would hand it to its handler.
func (j *Job) request(ctx context.Context) (*http.Request, error) {
	u, err := url.ParseRequestURI(j.Target)
	if err != nil {
		return nil, fmt.Errorf("make request of %s: %w", j.ID, err)
	}
	// A proxy breaks off its answer, as a server expects, only below a server.
	ctx = context.WithValue(ctx, http.ServerContextKey, &http.Server{})
	h := j.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set(api.HeaderRequestID, j.ID)
	r := &http.Request{
		Method: j.Method, URL: u, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Host: j.Host, RemoteAddr: j.Remote,
		RequestURI: j.Target, Body: http.NoBody, ContentLength: int64(len(j.Body)),
	}
	if len(j.Body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(j.Body))
	}
	return r.WithContext(ctx), nil
}
