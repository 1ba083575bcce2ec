package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/replay"
)

func TestPermute(t *testing.T) {
	app := newApp(streams{out: &strings.Builder{}, err: &strings.Builder{}})
	tests := []struct{ in, want string }{
		{"ol", "ol"},
		{"ol invoke echo {} --json", "ol invoke --json echo {}"},
		{"ol invoke echo -p dir {} -v", "ol invoke -p dir -v echo {}"},
		{"ol invoke echo -p=dir {}", "ol invoke -p=dir echo {}"},
		{"ol invoke -v -- echo -5", "ol invoke -v -- echo -5"},
		{"ol invoke echo -", "ol invoke echo -"},
		{"ol worker up -d -o a=1", "ol worker up -d -o a=1"},
		{"ol worker --help", "ol worker --help"},
		{"ol invoke --generate-bash-completion", "ol invoke --generate-bash-completion"},
	}
	for _, tt := range tests {
		got := strings.Join(permute(app, strings.Fields(tt.in)), " ")
		if got != tt.want {
			t.Errorf("%s became %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestExitCode(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		ctx  context.Context
		err  error
		want int
	}{
		{t.Context(), nil, 0},
		{t.Context(), errors.New("x"), codeFailed},
		{t.Context(), usage("", "x"), codeUsage},
		{t.Context(), fmt.Errorf("more: %w", fail(codeNotFound, "x", nil, "")), codeNotFound},
		{t.Context(), fmt.Errorf("wait: %w", context.DeadlineExceeded), codeTimeout},
		{over, errors.New("x"), codeInterrupted},
	}
	for _, tt := range tests {
		if got := exitCode(tt.ctx, tt.err); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
	}
}

// The lock names its holder, who is a process that lives; a file that somebody
// left names nobody.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	if pid, err := lockHolder(dir); pid != 0 || err != nil {
		t.Errorf("no file: %d, %v", pid, err)
	}
	if err := os.WriteFile(filepath.Join(dir, lockFile), []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if pid, err := lockHolder(dir); pid != 0 || err != nil {
		t.Errorf("stale file: %d, %v", pid, err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	// A process may always take a lock that it holds itself, so that the
	// holder can be asked for by others only: see the transcripts.
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
}

// A process that does not end when it is asked to: the exit code is that of a
// timeout, and what to type instead is said.
func TestInterruptInVain(t *testing.T) {
	cmd := exec.Command("sh", "-c", `trap "" INT; echo ready; while :; do read line || exit 0; done`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	err = interrupt(t.Context(), "stop boss", cmd.Process, 100*time.Millisecond, "end it at once")
	var f *failure
	if !errors.As(err, &f) || f.code != codeTimeout || f.next != "end it at once" || !strings.Contains(f.Error(), "did not end within 100ms") {
		t.Errorf("got %v", err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	// It ends now, and counts as ended before anybody has waited for it.
	await(t, "it has ended", func() bool { return ended(cmd.Process) })
	if err := interrupt(t.Context(), "stop boss", cmd.Process, time.Minute, ""); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestFollowerSeesRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "f.log")
		var lines []string
		f := &follower{path: path, write: func(line string) error { lines = append(lines, line); return nil }}
		defer f.close()
		write := func(text string, flags int) {
			file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flags, 0o644)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.WriteString(text); err != nil {
				t.Fatal(err)
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- f.follow(ctx) }()
		time.Sleep(time.Second) // not there yet
		write("one\ntw", os.O_APPEND)
		time.Sleep(time.Second)
		write("o\n", os.O_APPEND)
		time.Sleep(time.Second)
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		write("three\n", os.O_APPEND)
		time.Sleep(time.Second)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"one", "two", "three"}, lines); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTailOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var all strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&all, "line %d\n", i)
	}
	if err := os.WriteFile(path, []byte(all.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := tailOf(path, 2); got != "line 4998\nline 4999" {
		t.Errorf("got %q", got)
	}
	if got := tailOf(path+"x", 2); !strings.Contains(got, "no such file") {
		t.Errorf("got %q", got)
	}
}

// The demo has to be carried by two cores under every policy that it compares
// by default.
func TestDemoIsCarriedByTwoCores(t *testing.T) {
	app := newApp(streams{out: &strings.Builder{}, err: &strings.Builder{}})
	var plan demoPlan
	for _, cmd := range app.Commands {
		if cmd.Name == "demo" {
			cmd.Action = actionThat(t, &plan)
		}
	}
	if err := app.Run([]string{"ol", "demo"}); err != nil {
		t.Fatal(err)
	}
	m := demoMachine(40)
	m.Cores = 2
	for _, name := range plan.policies {
		p, err := plan.predict(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: cpu %.2f, %.1f starts/s, %+v", name, p.CPUShare(m), p.ColdRate(), p)
		if err := p.Check(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p.PeakMB < plan.poolMB*9/10 {
			t.Errorf("%s: no pressure, peak %d of %d MB", name, p.PeakMB, plan.poolMB)
		}
	}
}

func TestPrintDemoFits80Columns(t *testing.T) {
	var out strings.Builder
	result := demoResult{Policy: "cidre-literal", Summary: replay.Summary{Requests: 123456, Cold: 12345, OverheadRatio: 0.123}, Evictions: 100000, PeakMB: 100000}
	result.Summary.Overhead = replay.Distribution{Mean: 12345678 * time.Microsecond, P50: time.Second, P99: time.Minute}
	printDemo(streams{out: &out}, demoPlan{stretch: 2}, []demoResult{result, result, result})
	for line := range strings.Lines(out.String()) {
		if len(line) > 81 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if !strings.Contains(out.String(), "12345 (10.0%)") {
		t.Errorf("table:\n%s", out.String())
	}
}

func actionThat(t *testing.T, plan *demoPlan) func(*cli.Context) error {
	t.Helper()
	return func(c *cli.Context) (err error) {
		*plan, err = planDemo(c)
		return err
	}
}

func TestDirectoryHasOneInstanceHoweverItIsSpelled(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "not/there/yet"} {
		if instanceOf(filepath.Join(dir, name)) != instanceOf(filepath.Join(link, name)) {
			t.Errorf("%q has two instances", name)
		}
	}
	if instanceOf(dir) == instanceOf(filepath.Join(dir, "other")) {
		t.Error("two directories have one instance")
	}
}
