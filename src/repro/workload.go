package repro

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/trace"
)

// Workload is a trace with the model of what it lacks.
type Workload struct {
	Source  trace.Source
	Options trace.Options
	Model   trace.Model
}

// FindWorkload knows the generated workloads (azure-like and the like, draw-N), per-minute
// traces as they are (s1, s2) and with the paper's memory and execution times
// (s1-sigma0 to s2-sigma2, where sigma is the unevenness inside a minute), and
// any trace by its path.
func FindWorkload(name string) (Workload, error) {
	w, known, err := shipped(name)
	if known || err != nil {
		return w, err
	}
	if _, missing := os.Stat(name); missing != nil && !strings.ContainsAny(name, "./") {
		return w, &UnknownWorkloadError{name}
	}
	w.Source, err = trace.Load(filepath.Clean(name))
	return w, err
}

// Shipped tells whether a name means a workload that comes with the program, and no
// path.
func Shipped(name string) bool {
	_, known, err := shipped(name)
	return known || err != nil // err says what is wrong with the name
}

// shipped finds a workload that comes with the program.
func shipped(name string) (w Workload, known bool, err error) {
	file := Workload{Model: trace.DefaultModel()}
	w = file
	source := name
	if base, sigma, ok := strings.Cut(name, "-sigma"); ok && len(sigma) == 1 && sigma[0] >= '0' && sigma[0] <= '2' {
		source = base
		w.Options.Sigma, w.Options.MaxExec, w.Model.MemScale = float64(sigma[0]-'0'), trace.PaperExecCap, trace.PaperMemScale
	}
	w.Source, known, err = trace.Named(source)
	switch {
	case err != nil:
		return w, false, fmt.Errorf("find workload: %w", err)
	case known && source != name && w.Source.Synthetic != nil:
		return w, false, &UnknownWorkloadError{name}
	case known:
		return w, true, nil
	}
	return file, false, nil
}

// UnknownWorkloadError names a workload that does not exist.
type UnknownWorkloadError struct{ Name string }

// Error names it.
func (e *UnknownWorkloadError) Error() string { return fmt.Sprintf("there is no workload %q", e.Name) }

// Workloads lists names that FindWorkload knows, draws and paths aside.
func Workloads() []string {
	return append(trace.Generated(), "s2-sigma0", "s2-sigma1", "s2-sigma2", "s1-sigma0", "s1-sigma1", "s1-sigma2", "s1", "s2")
}

// Open makes the workload with a seed, cut to its first minutes (0: all).
func (w Workload) Open(minutes int, seed uint64) (trace.Workload, error) {
	w.Options.Seed, w.Options.Minutes = seed, minutes
	if s := w.Source.Synthetic; s != nil {
		short := s.First(minutes)
		w.Source.Synthetic, w.Options.Minutes = &short, 0 // it has no more
	}
	return w.Source.Workload(w.Options, w.Model)
}

// Check tells what prevents that its first minutes are simulated (0: all). It
// reads a trace of invocations to its end.
func (w Workload) Check(minutes int) error {
	if s := w.Source.Synthetic; s != nil {
		return s.First(minutes).Check()
	}
	opened, err := w.Open(minutes, 1)
	if err != nil || w.Source.Calls == nil {
		return err
	}
	s, err := opened.Open()
	if err != nil {
		return err
	}
	var inv trace.Invocation
	for ok := true; ok && err == nil; {
		ok, err = s.Next(&inv)
	}
	return errors.Join(err, s.Close())
}

// content identifies what a workload is read from: all files of a trace. It is
// empty for what comes with the program, which tells that apart, and for what
// cannot be read, which whoever opens it is told.
func content(name string) string {
	if Shipped(name) {
		return ""
	}
	files, err := trace.Files(filepath.Clean(name))
	if err != nil {
		return ""
	}
	all := sha256.New()
	for _, path := range files {
		sum, err := fileSum(path)
		if err != nil {
			return ""
		}
		fmt.Fprintln(all, sum)
	}
	return hex.EncodeToString(all.Sum(nil))[:16]
}

// fileSum identifies the content of a file.
func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("open file: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read file: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// stretched multiplies the times between arrivals, and executions.
func stretched(w trace.Workload, iat, exec float64) trace.Workload {
	if iat == 1 && exec == 1 {
		return w
	}
	scale := func(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }
	open := w.Open
	w.Span = scale(w.Span, iat)
	w.Open = func() (trace.Stream, error) {
		s, err := open()
		return &stretch{s, func(inv *trace.Invocation) {
			inv.At, inv.Exec = scale(inv.At, iat), scale(inv.Exec, exec)
		}}, err
	}
	return w
}

type stretch struct {
	trace.Stream
	change func(*trace.Invocation)
}

// Next changes what the stream yields.
func (s *stretch) Next(out *trace.Invocation) (bool, error) {
	ok, err := s.Stream.Next(out)
	if ok && err == nil {
		s.change(out)
	}
	return ok, err
}
