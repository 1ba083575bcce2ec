package packages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Causes for which an installer is killed.
var (
	errLate  = errors.New("time limit")
	errLarge = errors.New("disk limit")
)

// Prefixes of directories that are not packages.
const (
	stagePrefix = ".stage-"
	gonePrefix  = ".gone-"
)

func isTemporary(name string) bool {
	return strings.HasPrefix(name, stagePrefix) || strings.HasPrefix(name, gonePrefix)
}

// install installs what pip makes of spec and returns its name and version.
func (s *Store) install(r lambda.Requirement, spec string) (string, error) {
	select {
	case s.slots <- struct{}{}:
	case <-s.life.Done():
		return "", errClosed
	}
	defer func() { <-s.slots }()
	begun := time.Now()
	var said tail
	k, err := s.installInto(r, spec, &said)
	took := time.Since(begun)
	log := s.cfg.Logger.With(slog.String("package", r.Spec), slog.Duration("took", took))
	if err != nil {
		failed := explain(r.Spec, err, said.String())
		log.Warn("install package", slog.String("reason", failed.Reason))
		return "", failed
	}
	log.Info("installed package", slog.String("version", k))
	if s.cfg.Installed != nil {
		s.cfg.Installed(took)
	}
	return k, nil
}

func (s *Store) installInto(r lambda.Requirement, spec string, said *tail) (_ string, err error) {
	if s.cfg.Runner == nil {
		return "", errors.New("this worker's sandboxes cannot run an installer")
	}
	stage, err := os.MkdirTemp(s.cfg.Dir, stagePrefix)
	if err != nil {
		return "", fmt.Errorf("make directory for package: %w", err)
	}
	defer func() { s.warn("remove directory of installer", os.RemoveAll(stage)) }()
	if err := s.cfg.Index.writeConf(stage); err != nil {
		return "", fmt.Errorf("write pip.conf: %w", err)
	}
	if err := s.runPip(stage, spec, said); err != nil {
		return "", err
	}
	m, err := inspect(filepath.Join(stage, filesDir))
	if err != nil {
		return "", &InstallError{Package: r.Spec, Word: WordFailed, Reason: err.Error(), Output: said.String(), Err: err}
	}
	// To pip ruamel-yaml and ruamel.yaml are the same, as are 1.0 and 1.0.0; what
	// was asked for is what is looked up.
	m.Name = r.Name
	if r.Version != "" {
		m.Version = r.Version
	}
	return s.keep(r, stage, m)
}

// runPip runs pip in a sandbox, within the limits of time and disk space.
func (s *Store) runPip(stage, spec string, said *tail) error {
	l := s.cfg.Limits
	ctx, cancel := context.WithTimeoutCause(s.life, time.Duration(l.RuntimeSec)*time.Second, errLate)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { s.watchSize(ctx, stage, stop) })
	defer watch.Wait()
	defer stop(nil)
	s.mu.Lock()
	s.jobs++
	id := fmt.Sprintf("install-%d", s.jobs)
	s.mu.Unlock()
	return s.cfg.Runner.Run(ctx, sandbox.Job{
		ID: id, Module: "installer", Args: s.cfg.Index.pipArgs(spec), Env: s.cfg.Index.pipEnv(), Dir: stage,
		MemMB: int64(l.MemMB), CPUPercent: l.CPUPercent, Procs: l.Procs, Output: said,
	})
}

// sizePeriod is how often the size of what an installer writes is looked at.
const sizePeriod = time.Second

// watchSize stops an installer that writes more than all packages may have.
func (s *Store) watchSize(ctx context.Context, stage string, stop context.CancelCauseFunc) {
	if s.cfg.MaxBytes <= 0 {
		return
	}
	tick := time.NewTicker(sizePeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// Files come and go while it looks: a look that failed says nothing.
		size, err := measure(stage, func(string, fs.FileInfo) error { return nil })
		if err == nil && size > s.cfg.MaxBytes {
			stop(errLarge)
		}
	}
}

// keep gives what is in stage its name, having made room for it.
func (s *Store) keep(r lambda.Requirement, stage string, m meta) (string, error) {
	k := key(m.Name, m.Version)
	for _, extra := range []string{workDir, pipConf} {
		if err := os.RemoveAll(filepath.Join(stage, extra)); err != nil {
			return "", fmt.Errorf("finish package: %w", err)
		}
	}
	if err := errors.Join(m.write(stage), os.Chmod(stage, 0o755)); err != nil {
		return "", fmt.Errorf("finish package: %w", err)
	}
	s.mu.Lock()
	gone, err := s.admit(k, stage, m)
	if err == nil && r.Version == "" {
		s.resolved[r.Spec] = k
		err = s.writeResolved()
	}
	s.mu.Unlock()
	for _, dir := range gone {
		s.warn("remove unused package", os.RemoveAll(dir))
	}
	return k, err
}

// admit puts a package in its place and returns directories to remove. mu is
// held.
func (s *Store) admit(k, stage string, m meta) ([]string, error) {
	if s.all[k] != nil {
		return nil, nil // another spelling of the requirement has led there before
	}
	gone, err := s.makeRoom(m.Bytes)
	if err != nil {
		return gone, err
	}
	dir := filepath.Join(s.cfg.Dir, k)
	if err := os.RemoveAll(dir); err != nil { // without meta.json: not ours, not whole
		return gone, fmt.Errorf("replace package: %w", err)
	}
	if err := os.Rename(stage, dir); err != nil {
		return gone, fmt.Errorf("keep package: %w", err)
	}
	s.all[k] = &pkg{meta: m, dir: dir, used: time.Now()}
	return gone, nil
}

// tailBytes is how much of what pip prints is kept for error messages.
const tailBytes = 4 << 10

// tail keeps the end of what was written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

// String returns whole lines.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.buf) < tailBytes {
		return string(t.buf)
	}
	_, rest, _ := bytes.Cut(t.buf, []byte("\n"))
	return string(rest)
}
