package registry

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
	"github.com/open-lambda/open-lambda/src/lambda/unpack"
)

// ServeHTTP answers /registry/ as a worker does. Beyond that, answers about a
// lambda carry its digest as ETag and its revision, and a write may be bound to
// a revision by If-Match, or to there being none by If-None-Match: *.
func (r *Registry) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	name, sub, _ := strings.Cut(strings.TrimPrefix(in.URL.Path, api.PathRegistry), "/")
	var err error
	switch {
	case name == "" && read(in):
		if err = r.awaitRead(in.Context()); err == nil {
			err = writeJSON(w, append([]string{}, r.Names()...))
		}
	case name == "":
		err = errMethod
	case !lambda.ValidName(name):
		err = lambda.CheckName(name)
	case sub == "config" && read(in):
		err = r.config(w, in, name)
	case sub != "":
		err = errNoRoute
	default:
		err = r.one(w, in, name)
	}
	if err != nil {
		refuse(w, in, name, err)
	}
}

var (
	errMethod  = errors.New("method not allowed here: use GET, POST or DELETE")
	errNoRoute = errors.New("there is nothing below a lambda but config")
)

func read(in *http.Request) bool { return in.Method == http.MethodGet || in.Method == http.MethodHead }

func (r *Registry) one(w http.ResponseWriter, in *http.Request, name string) error {
	switch {
	case read(in):
		return r.download(w, in, name)
	case in.Method == http.MethodPost || in.Method == http.MethodPut:
		return r.upload(w, in, name)
	case in.Method == http.MethodDelete:
		last, err := condition(in)
		if err != nil {
			return err
		}
		if err := r.Remove(in.Context(), name, last); err != nil {
			return err
		}
		return writeText(w, http.StatusOK, "Lambda "+name+" deleted successfully")
	}
	return errMethod
}

func (r *Registry) config(w http.ResponseWriter, in *http.Request, name string) error {
	f, err := r.find(in.Context(), name)
	if err != nil {
		return err
	}
	describe(w, f)
	return writeJSON(w, f.Config)
}

func (r *Registry) download(w http.ResponseWriter, in *http.Request, name string) error {
	f, fresh, err := r.findSince(in.Context(), name, in.Header.Get(api.HeaderStamp))
	h := w.Header()
	if fresh != "" {
		h.Set(api.HeaderStamp, fresh)
	}
	if err != nil {
		return err
	}
	describe(w, f)
	h.Set("Content-Type", "application/gzip")
	h.Set("Content-Length", strconv.FormatInt(f.Bytes, 10))
	if in.Method == http.MethodHead {
		return nil
	}
	body, err := r.cfg.Code.Get(in.Context(), f.Digest)
	if err != nil {
		h.Del("Content-Length")
		return err
	}
	defer body.Close()
	if _, err := io.Copy(w, body); err != nil {
		panic(http.ErrAbortHandler) // the client must not take it for whole
	}
	return nil
}

func describe(w http.ResponseWriter, f api.Function) {
	w.Header().Set("ETag", strconv.Quote(f.Digest))
	w.Header().Set(api.HeaderRevision, strconv.FormatUint(f.Revision, 10))
}

func (r *Registry) upload(w http.ResponseWriter, in *http.Request, name string) error {
	last, err := condition(in)
	if err != nil {
		return err
	}
	f, warnings, err := r.Install(in.Context(), name, http.MaxBytesReader(w, in.Body, r.cfg.Limits.Packed), last)
	if err != nil {
		return err
	}
	for _, text := range warnings {
		w.Header().Add(api.HeaderWarning, text)
	}
	describe(w, f)
	return writeText(w, http.StatusCreated, api.Uploaded(name))
}

// conditionError is an If-Match that names no revision.
type conditionError struct{ got string }

func (e *conditionError) Error() string {
	return "If-Match is " + strconv.Quote(e.got) + ": it must be a revision, as in " + api.HeaderRevision
}

// condition is the revision that a write is bound to.
func condition(in *http.Request) (uint64, error) {
	if in.Header.Get("If-None-Match") == "*" {
		return 0, nil
	}
	text := in.Header.Get("If-Match")
	if text == "" || text == "*" {
		return Any, nil
	}
	n, err := strconv.ParseUint(strings.Trim(text, `"`), 10, 63)
	if err != nil {
		return 0, &conditionError{text}
	}
	return n, nil
}

func refuse(w http.ResponseWriter, in *http.Request, name string, err error) {
	p := problem(err)
	p.Function = name
	p.Write(w, in)
}

func problem(err error) *api.Problem {
	var bad *lambda.NameError
	var large *http.MaxBytesError
	var refused *archive.RefusedError
	var content *unpack.ContentError
	var cond *conditionError
	switch {
	case errors.As(err, &bad):
		return api.NewProblem(http.StatusBadRequest, "bad-name", bad.Error())
	case errors.As(err, &cond):
		return api.NewProblem(http.StatusBadRequest, "bad-revision", cond.Error())
	case errors.As(err, &large):
		return api.NewProblem(http.StatusRequestEntityTooLarge, "archive-too-large", "the archive has more than "+strconv.FormatInt(large.Limit>>20, 10)+" MB")
	case errors.As(err, &refused):
		return api.NewProblem(http.StatusBadRequest, "bad-archive", refused.Error())
	case errors.As(err, &content):
		return api.NewProblem(http.StatusBadRequest, "bad-lambda", content.Error())
	case errors.Is(err, ErrNotFound):
		return api.NewProblem(http.StatusNotFound, "unknown-lambda", "no such lambda")
	case errors.Is(err, ErrStale):
		return api.NewProblem(http.StatusConflict, "stale-revision", err.Error())
	case errors.Is(err, errMethod):
		return api.NewProblem(http.StatusMethodNotAllowed, "method-not-allowed", err.Error())
	case errors.Is(err, errNoRoute):
		return api.NewProblem(http.StatusNotFound, "no-route", err.Error())
	}
	if errors.Is(err, errUnread) || errors.Is(err, errBehind) {
		p := api.NewProblem(http.StatusServiceUnavailable, "registry-unavailable", err.Error()+": ask another boss, or again in a moment")
		p.RetryAfter = time.Second
		return p
	}
	return outOfReach(err)
}

// outOfReach is for a store that does not answer, by far the most likely of
// what is left.
func outOfReach(err error) *api.Problem {
	detail := "the registry cannot be written now, invocations go on: " + err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		detail += "; the write may still become visible"
	}
	p := api.NewProblem(http.StatusServiceUnavailable, "registry-unavailable", detail)
	p.RetryAfter = 2 * time.Second
	return p
}

func writeJSON(w http.ResponseWriter, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // a client that is gone cannot be told so
	return nil
}

func writeText(w http.ResponseWriter, status int, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // a client that is gone cannot be told so
	return nil
}
