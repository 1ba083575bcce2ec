package sock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Maker is a provider of any kind.
type Maker interface {
	Create(ctx context.Context, spec Spec) (*Sandbox, error)
	Run(ctx context.Context, job Job) error
	Close(ctx context.Context) error
}

// ContractCase is something that every provider must do.
type ContractCase struct {
	Name string
	Run  func(*testing.T, Maker)
}

// Contract lists them.
func Contract() []ContractCase {
	return []ContractCase{
		{"exit texts", exitTexts},
		{"limits", limitsHold},
		{"cpu limit", cpuLimit},
		{"freezing", freezes},
		{"start errors", startErrors},
		{"giving up", createGivesUp},
		{"output", outputArrives},
		{"many at once", manyAtOnce},
		{"packages", packages},
		{"confinement", confines},
		{"no network", alone},
		{"jobs", jobs},
	}
}

func TestContract(t *testing.T) {
	for _, origin := range []string{FromPool, Fresh} {
		t.Run(origin, func(t *testing.T) {
			cfg := settings(t)
			if origin == Fresh {
				cfg.Zygote, cfg.Pool = false, 0
			}
			p := newProvider(t, cfg)
			warm(t, p)
			for _, c := range Contract() {
				t.Run(c.Name, func(t *testing.T) { c.Run(t, p) })
			}
		})
	}
}

// lines collects output.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

const bombs = `
import os, signal, sys, time
held = []
def f(event):
    what = event["what"]
    if what == "memory":
        while True:
            held.append(b"x" * (1 << 20))
    if what == "fork":
        n = 0
        try:
            while n < 100:
                if os.fork() == 0:
                    time.sleep(600)
                    os._exit(0)
                n += 1
        except OSError:
            pass
        return n
    if what == "exit":
        os._exit(3)
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "segfault":
        import ctypes
        ctypes.string_at(0)
    if what == "mb":
        held.append(b"x" * (event["mb"] << 20))
    return "alive"
`

func await(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(limit):
		t.Fatal("waited too long")
	}
}

func exitTexts(t *testing.T, p Maker) {
	cases := []struct{ what, text string }{
		{"memory", "out of memory"},
		{"exit", "exit code 3"},
		{"kill", "signal: killed"},
		{"segfault", "signal: segmentation fault"},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			s := create(t, p, code(t, "bomb", bombs))
			defer destroy(t, s)
			if _, _, err := try(s, fmt.Sprintf(`{"what":%q}`, c.what)); err == nil {
				t.Fatal("the sandbox lives")
			}
			info := s.Info()
			await(t, info.Exited)
			if got := s.Info().ExitText; got != c.text {
				t.Errorf("exit text is %q", got)
			}
			if reachable(s) {
				t.Error("a dead sandbox takes connections")
			}
		})
	}
}

func limitsHold(t *testing.T, p Maker) {
	s := create(t, p, code(t, "limits", bombs))
	if _, n := call(t, s, `{"what":"fork"}`); n != "9" { // 10 with the runtime itself
		t.Errorf("%s processes could be forked, not 9", n)
	}
	if _, alive := call(t, s, `{"what":"mb","mb":30}`); !strings.Contains(alive, "alive") {
		t.Errorf("answer is %s", alive)
	}
	if mem := s.Info().MemBytes; mem < 30<<20 || mem > 64<<20 {
		t.Errorf("%d bytes are charged", mem)
	}
	destroy(t, s)
	again := create(t, p, code(t, "again", bombs))
	defer destroy(t, again)
	if mem := again.Info().MemBytes; mem > 25<<20 {
		t.Errorf("a new sandbox begins with %d bytes charged", mem)
	}
	if _, n := call(t, again, `{"what":"fork"}`); n != "9" {
		t.Errorf("%s processes could be forked in the next one", n)
	}
}

func cpuLimit(t *testing.T, p Maker) {
	spec := code(t, "cpu", `
import time
def f(event):
    begin, end = time.process_time(), time.monotonic() + 0.5
    while time.monotonic() < end: pass
    return time.process_time() - begin
`)
	spec.CPUPercent = 20
	s := create(t, p, spec)
	defer destroy(t, s)
	begin := time.Now()
	_, answer := call(t, s, "{}")
	took := time.Since(begin)
	used, err := strconv.ParseFloat(answer, 64)
	if err != nil {
		t.Fatal(err)
	}
	// A quota is refilled every 0.1 s, so a run may get two refills more.
	if bound := (took/5 + 50*time.Millisecond).Seconds(); used <= 0 || used > bound {
		t.Errorf("20 %% of a core used %.3f s in %v", used, took)
	}
}

func freezes(t *testing.T, p Maker) {
	s := create(t, p, code(t, "cold", echo))
	for range 3 {
		for _, frozen := range []bool{true, true, false, false} {
			if err := s.SetFrozen(frozen); err != nil {
				t.Fatal(err)
			}
		}
		call(t, s, "{}")
	}
	if err := s.SetFrozen(true); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://w/run/x", strings.NewReader("{}"))
	if resp, err := roundTrip(s, req); err == nil {
		resp.Body.Close()
		t.Error("a frozen sandbox answers")
	}
	destroy(t, s)
	if err := s.SetFrozen(false); err == nil {
		t.Error("a destroyed sandbox can be thawed")
	}
	destroy(t, s) // twice is no error
}

func startErrors(t *testing.T, p Maker) {
	cases := []struct {
		name, source, reason string
		lambda               bool
	}{
		{"import", "import nosuchmodule\n", "No module named 'nosuchmodule'", true},
		{"syntax", "def f(:\n", "invalid syntax", true},
		{"exit", "import os\nprint('bye', flush=True)\nos._exit(7)\n", "exit code 7", true},
		{"memory", "x = []\nwhile True: x.append(b'x' * (1 << 20))\n", "out of memory", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			s, err := p.Create(ctx, code(t, "bad", c.source))
			var start *StartError
			if !errors.As(err, &start) {
				t.Fatalf("created %v, %v", s, err)
			}
			if start.Lambda != c.lambda || !strings.Contains(start.Reason+start.Output, c.reason) {
				t.Errorf("error is %+v", start)
			}
			if c.name == "exit" && !strings.Contains(start.Output, "bye") {
				t.Errorf("output is %q", start.Output)
			}
		})
	}
	spec := code(t, "gone", echo)
	spec.Dir += "/gone"
	var start *StartError
	if _, err := p.Create(context.Background(), spec); !errors.As(err, &start) || start.Lambda {
		t.Errorf("a missing directory gives %v", err)
	}
}

func createGivesUp(t *testing.T, p Maker) {
	for i := range 3 {
		started := &lines{}
		ctx, cancel := context.WithCancel(context.Background())
		spec := code(t, fmt.Sprintf("slow-%d", i), "import time\nprint('in', flush=True)\ntime.sleep(600)\n")
		spec.Output = cancelOn{started, cancel}
		_, err := p.Create(ctx, spec)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
		cancel()
	}
}

// cancelOn cancels at the first output.
type cancelOn struct {
	*lines
	cancel context.CancelFunc
}

func (c cancelOn) Write(p []byte) (int, error) {
	c.cancel()
	return c.lines.Write(p)
}

func outputArrives(t *testing.T, p Maker) {
	out := &lines{}
	spec := code(t, "loud", "import sys\ndef f(event):\n    print('one'); print('two', file=sys.stderr)\n    print('x' * 50000)\n    print('end')\n")
	spec.Output = out
	s := create(t, p, spec)
	call(t, s, "{}")
	destroy(t, s)
	got := out.String()
	for _, want := range []string{"one\n", "two\n", "end\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing from the output", want)
		}
	}
	if n := strings.Count(got, "x"); n != 50_000 {
		t.Errorf("%d of 50000 characters of a long line arrived", n)
	}
}

func manyAtOnce(t *testing.T, p Maker) {
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			spec := code(t, fmt.Sprintf("many-%d", i), echo)
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			s, err := p.Create(ctx, spec)
			if err != nil {
				t.Error(err)
				return
			}
			if status, _, err := try(s, "{}"); err != nil || status != 200 {
				t.Errorf("call: %d, %v", status, err)
			}
			if i%2 == 0 {
				if err := s.Destroy(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func jobs(t *testing.T, p Maker) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out := &lines{}
	job := Job{ID: "job", Dir: t.TempDir(), Network: NetworkNone, MemMB: 64, Procs: 10, Output: out, Env: map[string]string{"A": "b"}}
	if err := os.Chmod(job.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	job.Args = []string{"-c", "import os; open('made', 'w').write('x'); print(os.environ['A'], os.getuid() != 0)"}
	if err := p.Run(ctx, job); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(job.Dir, "made"))
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 || out.String() != "b True\n" {
		t.Errorf("job left %v, %v and printed %q", info, err, out)
	}
	job.Args = []string{"-c", "print('no', flush=True); raise SystemExit(3)"}
	var failed *JobError
	if err := p.Run(ctx, job); !errors.As(err, &failed) || failed.Code != 3 || !strings.Contains(failed.Output, "no") {
		t.Errorf("a job that fails gives %#v", err)
	}
}

func packages(t *testing.T, p Maker) {
	a, b := code(t, "a", "def a(): return 'a'\n"), code(t, "b", "")
	spec := code(t, "user", "import sys\ndef f(event):\n    return [p for p in sys.path if p.startswith('/packages')]\n")
	spec.Packages = []Package{{Name: "a", Dir: a.Dir}, {Name: "b", Dir: b.Dir}}
	if _, answer := call(t, create(t, p, spec), "{}"); answer != `["/packages/a", "/packages/b"]` {
		t.Errorf("answer is %s", answer)
	}
}
