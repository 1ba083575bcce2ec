package sock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// job makes one that runs a program's text.
func job(t *testing.T, program string) Job {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return Job{
		ID: "job-1", Dir: dir, Args: []string{"-I", "-c", program}, Env: map[string]string{"COLOUR": "red"},
		Network: NetworkNone, MemMB: 64, CPUPercent: 100, Procs: 5, Output: testWriter{t},
	}
}

func TestJob(t *testing.T) {
	p := newProvider(t, settings(t))
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	j := job(t, `
import os, pathlib
pathlib.Path("made").mkdir()
pathlib.Path("made/by").write_text("%d %d %s %s" % (os.getpid(), os.getuid(), os.environ, os.listdir("/packages")))
`)
	pkg := t.TempDir()
	j.Packages = []Package{{Name: "a==1.0", Dir: pkg}}
	if err := p.Run(ctx, j); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(j.Dir, "made/by")
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "1 1000 environ({'COLOUR': 'red'") || !strings.Contains(string(text), "a==1.0") {
		t.Errorf("made %q, %v", text, err)
	}
	for _, name := range []string{j.Dir, filepath.Dir(path), path} {
		var st unix.Stat_t
		if err := unix.Stat(name, &st); err != nil || st.Uid != 0 || st.Gid != 0 {
			t.Errorf("%s belongs to %d:%d, %v", name, st.Uid, st.Gid, err)
		}
	}
}

func TestJobFailures(t *testing.T) {
	p := newProvider(t, settings(t))
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cases := []struct {
		name, program, reason, output string
		code                          int
	}{
		{"status", "print('too bad'); raise SystemExit(7)", "exit code 7", "too bad\n", 7},
		{"exception", "1 / 0", "exit code 1", "ZeroDivisionError: division by zero\n", 1},
		{"memory", "x = []\nwhile True: x.append(b'x' * 1000000)", "out of memory", "", 0},
		{"read-only", "open('/packages/x', 'w')", "exit code 1", "Read-only file system", 1},
		{"network", "import socket; socket.create_connection(('192.0.2.1', 1))", "exit code 1", "Network is unreachable", 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var failed *JobError
			err := p.Run(ctx, job(t, c.program))
			if !errors.As(err, &failed) || failed.Reason != c.reason || failed.Code != c.code || !strings.Contains(failed.Output, c.output) {
				t.Errorf("got %v, %+v", err, failed)
			}
		})
	}
}

func TestJobEndsWithContext(t *testing.T) {
	p := newProvider(t, settings(t))
	ctx, cancel := context.WithCancelCause(t.Context())
	j := job(t, "import time; print('here', flush=True); time.sleep(1000)")
	why := errors.New("enough")
	j.Output = writerFunc(func([]byte) { cancel(why) })
	if err := p.Run(ctx, j); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}
