package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/unpack"
	"github.com/open-lambda/open-lambda/worker/dispatch"
	"github.com/open-lambda/open-lambda/worker/fault"
)

// Registry stores lambdas: *registry.Registry.
type Registry interface {
	List(ctx context.Context) ([]string, error)
	Fetch(ctx context.Context, name string, w io.Writer) error
	Put(ctx context.Context, name string, archive io.Reader) error
	Delete(ctx context.Context, name string) error
}

// registry answers /registry/...
func (s *Server) registry(w http.ResponseWriter, r *http.Request) {
	name, sub, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, api.PathRegistry), "/")
	if name == "" {
		s.only(w, r, s.list, http.MethodGet)
		return
	}
	if err := lambda.CheckName(name); err != nil {
		problem(err).Write(w, r)
		return
	}
	var err error
	switch {
	case sub == "config" && r.Method == http.MethodGet:
		err = s.config(w, r, name)
	case sub != "":
		notFound(w, r)
	case r.Method == http.MethodGet:
		err = s.download(w, r, name)
	case r.Method == http.MethodPost:
		err = s.upload(w, r, name)
	case r.Method == http.MethodDelete:
		err = s.remove(w, r, name)
	default:
		s.only(w, r, nil, http.MethodGet, http.MethodPost, http.MethodDelete)
	}
	if err != nil {
		p := problem(err)
		p.Function = name
		p.Write(w, r)
	}
}

// only calls h if the method is one of those allowed.
func (s *Server) only(w http.ResponseWriter, r *http.Request, h http.HandlerFunc, allowed ...string) {
	for _, m := range allowed {
		if h != nil && r.Method == m {
			h(w, r)
			return
		}
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	problem(&methodError{sent: r.Method, allowed: allowed}).Write(w, r)
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	names, err := s.cfg.Registry.List(r.Context())
	if err != nil {
		problem(err).Write(w, r)
		return
	}
	if names == nil {
		names = []string{}
	}
	writeJSON(w, names)
}

func (s *Server) config(w http.ResponseWriter, r *http.Request, name string) error {
	l, err := s.cfg.Lambdas.Lookup(r.Context(), name, "")
	if err != nil {
		return err
	}
	writeJSON(w, l.Config)
	return nil
}

func (s *Server) download(w http.ResponseWriter, r *http.Request, name string) error {
	out := &lateHeader{w: w}
	err := s.cfg.Registry.Fetch(r.Context(), name, out)
	if err != nil && out.begun {
		panic(http.ErrAbortHandler) // the client must not take it for whole
	}
	return err
}

// lateHeader decides the content type when there is content.
type lateHeader struct {
	w     http.ResponseWriter
	begun bool
}

func (l *lateHeader) Write(p []byte) (int, error) {
	if !l.begun {
		l.begun = true
		l.w.Header().Set("Content-Type", "application/gzip")
	}
	return l.w.Write(p)
}

// upload takes an archive that nobody vouches for: it is unpacked aside
// before it is stored, and refused with 400 if that fails.
func (s *Server) upload(w http.ResponseWriter, r *http.Request, name string) error {
	dir, err := os.MkdirTemp(s.cfg.Scratch, "upload-*")
	if err != nil {
		return fmt.Errorf("store upload: %w", err)
	}
	warnings, err := s.store(w, r, name, dir)
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return err
	}
	s.cfg.Lambdas.Changed(name)
	for _, warning := range warnings {
		w.Header().Add(api.HeaderWarning, warning)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusCreated)
	writeString(w, api.Uploaded(name))
	return nil
}

func (s *Server) store(w http.ResponseWriter, r *http.Request, name, dir string) ([]string, error) {
	f, err := os.Create(filepath.Join(dir, "archive"))
	if err != nil {
		return nil, fmt.Errorf("store upload: %w", err)
	}
	defer f.Close()
	sent := &sender{from: http.MaxBytesReader(w, r.Body, s.cfg.Limits.Packed)}
	if _, err := io.Copy(s.cfg.Fault.Writer(fault.Upload, f), sent); err != nil {
		return nil, sent.blame(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("store upload: %w", err)
	}
	cfg, warnings, err := unpack.Lambda(f, filepath.Join(dir, "check"), s.cfg.Limits)
	if err != nil {
		return nil, err
	}
	if err := s.cfg.Allowed(&cfg); err != nil {
		return nil, err
	}
	if s.cfg.Alone {
		warnings = append(warnings, cfg.WithoutBoss()...)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("store upload: %w", err)
	}
	if err := s.cfg.Fault.At(fault.Store); err != nil {
		return nil, fmt.Errorf("store lambda %s: %w", name, err)
	}
	return warnings, s.cfg.Registry.Put(r.Context(), name, f)
}

// sender is the client of an upload. It tells its failures from those of the
// disk.
type sender struct {
	from io.Reader
	err  error
}

// Read is part of io.Reader.
func (s *sender) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// blame says whose failure it is that an upload could not be copied.
func (s *sender) blame(err error) error {
	var large *http.MaxBytesError
	switch {
	case s.err == nil:
		return fmt.Errorf("store upload: %w", err)
	case errors.As(s.err, &large):
		return &archiveSizeError{limit: large.Limit}
	}
	return fmt.Errorf("read upload: %w", errors.Join(dispatch.ErrClientGone, s.err))
}

// archiveSizeError is an archive with more bytes than an upload may have.
type archiveSizeError struct{ limit int64 }

// Error names the limit.
func (e *archiveSizeError) Error() string {
	return "the archive has more than " + megabytes(e.limit)
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request, name string) error {
	if err := s.cfg.Registry.Delete(r.Context(), name); err != nil {
		return err
	}
	s.cfg.Lambdas.Changed(name)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	writeString(w, "Lambda "+name+" deleted successfully")
	return nil
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	b, err := json.Marshal(v)
	if err != nil { // our own types: they marshal
		panic(err)
	}
	writeString(w, string(b)+"\n")
}

// writeString ignores errors: a client that is gone cannot be told so.
func writeString(w io.Writer, s string) { _, _ = io.WriteString(w, s) }
