package packages

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/worker/sandbox"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pipper stands for pip: it "installs" a package of 1,000 bytes and the version
// asked for, 9.9 if none is.
type pipper struct {
	before func(ctx context.Context, spec string) error // may wait and fail
	called string                                       // how the package calls itself; "": as it was asked for
	runs   atomic.Int64
	now    atomic.Int64
	peak   atomic.Int64
}

func (p *pipper) Run(ctx context.Context, job sandbox.Job) error {
	spec := job.Args[len(job.Args)-1]
	p.runs.Add(1)
	p.peak.Store(max(p.peak.Load(), p.now.Add(1)))
	defer p.now.Add(-1)
	if p.before != nil {
		if err := p.before(ctx, spec); err != nil {
			fmt.Fprintf(job.Output, "ERROR: no luck with %s\n", spec)
			return err
		}
	}
	name, version, ok := strings.Cut(spec, "==")
	if !ok {
		name, version = strings.TrimRight(spec, ">=0123456789"), "9.9"
	}
	if p.called != "" {
		name, version = p.called, version+".0"
	}
	info := filepath.Join(job.Dir, filesDir, name+".dist-info")
	return errors.Join(
		os.MkdirAll(info, 0o700),
		os.WriteFile(filepath.Join(info, "METADATA"), fmt.Appendf(nil, "Name: %s\nVersion: %s\n\nVersion: 7\n", name, version), 0o600),
		os.WriteFile(filepath.Join(job.Dir, filesDir, name+".py"), make([]byte, 1000), 0o600),
	)
}

func newStore(t *testing.T, dir string, runner sandbox.Runner, change func(*Config)) *Store {
	t.Helper()
	cfg := Config{
		Dir: dir, Runner: runner, Limits: config.Limits{RuntimeSec: 300}, AtOnce: 2, Patience: time.Minute,
		Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&cfg)
	}
	s := New(cfg)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func want(t *testing.T, specs ...string) []lambda.Requirement {
	t.Helper()
	var out []lambda.Requirement
	for _, spec := range specs {
		r, err := lambda.ParseRequirement(spec)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func lease(t *testing.T, s *Store, specs ...string) *Lease {
	t.Helper()
	l, err := s.Lease(t.Context(), want(t, specs...))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func names(l *Lease) []string {
	var out []string
	for _, p := range l.Packages() {
		out = append(out, p.Name)
	}
	return out
}

func TestLeaseKeepsOrderAndReadability(t *testing.T) {
	s := newStore(t, t.TempDir(), &pipper{}, nil)
	l := lease(t, s, "b==2", "a", "c>=1")
	defer l.Release()
	if got := names(l); !slices.Equal(got, []string{"b==2", "a==9.9", "c==9.9"}) {
		t.Errorf("got %v", got)
	}
	p := l.Packages()[0]
	if !slices.Equal(p.Modules, []string{"b"}) {
		t.Errorf("modules %v", p.Modules)
	}
	for path, mode := range map[string]os.FileMode{"b.py": 0o644, "b.dist-info": 0o755} {
		info, err := os.Stat(filepath.Join(p.Dir, path))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestSpellingsThatAreTheSameToPip(t *testing.T) {
	p := &pipper{called: "Ruamel.Yaml"}
	s := newStore(t, t.TempDir(), p, nil)
	for range 2 {
		l := lease(t, s, "ruamel_yaml==1")
		if got := names(l); !slices.Equal(got, []string{"ruamel-yaml==1"}) {
			t.Errorf("got %v", got)
		}
		l.Release()
	}
	if p.runs.Load() != 1 {
		t.Errorf("%d installations", p.runs.Load())
	}
}

func TestClaims(t *testing.T) {
	pkgs := []*pkg{
		{meta: meta{Name: "a", Version: "1", Requires: []string{"ruamel-yaml (>=2)", "absent>1", "b", "B[x]>=1; os_name == 'nt'"}}},
		{meta: meta{Name: "ruamel.yaml", Version: "1.5"}},
		{meta: meta{Name: "b", Version: "3"}},
	}
	want := []claim{{"a==1", "ruamel-yaml (>=2)", "1.5"}, {"a==1", "B[x]>=1; os_name == 'nt'", "3"}}
	if got := claimsAbout(pkgs); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestOneInstallationForManyCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipper{before: func(ctx context.Context, _ string) error {
			select {
			case <-time.After(time.Minute): // longer than any request may take
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}}
		s := newStore(t, t.TempDir(), p, func(c *Config) { c.AtOnce = 3 })
		var callers sync.WaitGroup
		for range 20 {
			callers.Go(func() { lease(t, s, "a==1", "b==1", "c==1", "d==1").Release() })
		}
		gone, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if _, err := s.Lease(gone, want(t, "a==1")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that left got %v", err)
		}
		callers.Wait()
		if p.runs.Load() != 4 || p.peak.Load() != 3 {
			t.Errorf("%d installations, %d at once", p.runs.Load(), p.peak.Load())
		}
	})
}

func TestFailureIsRememberedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipper{before: func(context.Context, string) error { return &sandbox.JobError{Reason: "exit code 1", Code: 1} }}
		s := newStore(t, t.TempDir(), p, nil)
		for range 3 {
			_, err := s.Lease(t.Context(), want(t, "a==1"))
			var failed *InstallError
			if !errors.As(err, &failed) || failed.Reason != "no luck with a==1" || failed.Output == "" || failed.Temporary {
				t.Errorf("got %+v", err)
			}
		}
		if p.runs.Load() != 1 {
			t.Errorf("%d tries", p.runs.Load())
		}
		time.Sleep(2 * time.Minute)
		p.before = nil
		lease(t, s, "a==1").Release()
	})
}

func TestInstallerHasItsOwnTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipper{before: func(ctx context.Context, _ string) error { <-ctx.Done(); return context.Cause(ctx) }}
		s := newStore(t, t.TempDir(), p, nil)
		begun := time.Now()
		_, err := s.Lease(t.Context(), want(t, "a==1"))
		var failed *InstallError
		if !errors.As(err, &failed) || failed.Word != WordLimit || time.Since(begun) != 300*time.Second {
			t.Errorf("got %v after %v", err, time.Since(begun))
		}
	})
}

func TestUnusedPackagesMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		p := &pipper{}
		// Room for three: each has 1,000 bytes, its metadata, and two directories.
		s := newStore(t, dir, p, func(c *Config) { c.MaxBytes = 40_000 })
		held := lease(t, s, "a==1")
		size := s.all["a==1"].meta.Bytes
		s.cfg.MaxBytes = 3 * size
		lease(t, s, "b==1").Release()
		time.Sleep(time.Second)
		lease(t, s, "c==1").Release()
		time.Sleep(time.Second)
		lease(t, s, "b==1").Release() // c is now the one used longest ago
		lease(t, s, "d==1").Release()
		if got := s.Installed(); !slices.Equal(got, []string{"a==1", "b==1", "d==1"}) {
			t.Errorf("installed %v", got)
		}
		all := lease(t, s, "b==1", "d==1")
		_, err := s.Lease(t.Context(), want(t, "e==1"))
		var failed *InstallError
		if !errors.As(err, &failed) || failed.Word != WordLimit {
			t.Errorf("with everything in use: %v", err)
		}
		all.Retain()
		all.Release()
		if _, err := s.Lease(t.Context(), want(t, "f==1")); err == nil {
			t.Error("a package in use made room")
		}
		all.Release()
		lease(t, s, "g==1").Release()
		held.Release()
		synctest.Wait() // what is replaced is removed when it is out of the way already
		if left, err := filepath.Glob(filepath.Join(dir, ".*-*")); err != nil || len(left) > 0 {
			t.Errorf("left %v, %v", left, err)
		}
	})
}

func TestWhatAKilledWorkerLeft(t *testing.T) {
	dir := t.TempDir()
	s := New(Config{Dir: dir, Runner: &pipper{}, Limits: config.Limits{RuntimeSec: 9}, Logger: slog.New(slog.DiscardHandler)})
	lease(t, s, "whole==1", "open").Release()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{stagePrefix + "123/files", gonePrefix + "x==1/files", "half==1/files"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "half==1/files/half.py"), []byte("raise SystemExit"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := &pipper{}
	next := newStore(t, dir, p, nil)
	l := lease(t, next, "whole==1", "open", "half==1")
	defer l.Release()
	if p.runs.Load() != 1 {
		t.Errorf("%d installations, want that of half==1 alone", p.runs.Load())
	}
	if text, err := os.ReadFile(filepath.Join(dir, "half==1/files/half.py")); err != nil || len(text) != 1000 {
		t.Errorf("half==1 has %q, %v", text, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*-*")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestTwoWorkersInOneDirectory(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, dir, &pipper{}, nil)
	lease(t, s, "a==1").Release()
	other := newStore(t, dir, &pipper{}, nil)
	if _, err := other.Lease(t.Context(), want(t, "a==1")); err == nil || !strings.Contains(err.Error(), "another worker") {
		t.Errorf("got %v", err)
	}
}

func TestCloseStopsInstallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipper{before: func(ctx context.Context, _ string) error { <-ctx.Done(); return context.Cause(ctx) }}
		s := newStore(t, t.TempDir(), p, nil)
		var caller sync.WaitGroup
		caller.Go(func() {
			if _, err := s.Lease(t.Context(), want(t, "a==1", "b==1", "c==1")); err == nil {
				t.Error("no error")
			}
		})
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		caller.Wait()
	})
}
