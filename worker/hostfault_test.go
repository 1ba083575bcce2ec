package worker

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/worker/fault"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// poorNode is a worker whose host refuses one kind of step while short is on.
// It asks the registry at each request, and its sandboxes answer with their
// code's text.
func poorNode(t *testing.T, at fault.Point, why error) (n *node, short *atomic.Bool) {
	t.Helper()
	dir, short := t.TempDir(), &atomic.Bool{}
	write(t, filepath.Join(dir, "registry", "f", "f.py"), "first")
	s := config.New(dir, 4000)
	s.RegistryCacheMS = 0
	inject := func(p fault.Point) error {
		if short.Load() && p == at {
			return why
		}
		return nil
	}
	return startNodeOn(t, dir, Config{Settings: s, Fault: inject}, speakCode), short
}

// speakCode makes sandboxes that answer with the text of their code, and print
// the request's body.
func speakCode(spec sandbox.Spec) (http.Handler, error) {
	code, err := os.ReadFile(filepath.Join(spec.Dir, "f.py"))
	if err != nil {
		return nil, &sandbox.StartError{Reason: err.Error()}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = spec.Output.Write(append(body, '\n'))
		_, _ = w.Write(code)
	}), nil
}

// shortOf checks that an answer says what the host lacks, and when to try again.
func (n *node) shortOf(r reply, reason, what string) {
	n.t.Helper()
	n.expect(r, http.StatusServiceUnavailable, what)
	if !strings.Contains(r.body, `"`+reason+`"`) || r.header.Get("Retry-After") == "" {
		n.t.Errorf("got %q, Retry-After %q, want reason %s", r.body, r.header.Get("Retry-After"), reason)
	}
}

// counted checks how many requests of a lambda ended how, and that none runs.
func (n *node) counted(name string, want map[string]string) {
	n.t.Helper()
	text := n.get(api.PathMetrics).body
	for labels, count := range want {
		line := `ol_invocations_total{` + labels + `} ` + count + "\n"
		if !strings.Contains(text, strings.ReplaceAll(line, "NAME", name)) {
			n.t.Errorf("there is no %q in %s", line, text)
		}
	}
	if !strings.Contains(text, "ol_in_flight 0\n") {
		n.t.Error("requests are in flight")
	}
}

// An upload that the disk has no room for is refused as the worker's failure,
// what was there stays, and the next is taken.
func TestFaultNoRoomForUploads(t *testing.T) {
	for _, at := range []fault.Point{fault.Upload, fault.Store} {
		t.Run(string(at), func(t *testing.T) {
			n, short := poorNode(t, at, unix.ENOSPC)
			post := func(name, text string) reply {
				return n.do(http.MethodPost, api.PathRegistry+name, pack(t, "f.py", text))
			}
			short.Store(true)
			n.shortOf(post("f", "second"), "worker-failed", "no space left on device")
			n.shortOf(post("g", "new"), "worker-failed", "no space left on device")
			n.expect(n.get(api.PathRun+"f"), http.StatusOK, "first")
			n.expect(n.get(api.PathRun+"g"), http.StatusNotFound, "unknown-lambda")
			if left, err := os.ReadDir(filepath.Join(n.dir, "worker/uploads")); err != nil || len(left) > 0 {
				t.Errorf("uploads left: %v, %v", left, err)
			}
			short.Store(false)
			n.expect(post("f", "second"), http.StatusCreated, "")
			n.expect(n.get(api.PathRun+"f"), http.StatusOK, "second")
		})
	}
}

// Code that cannot be extracted is the worker's failure too, and no verdict on
// the lambda. What runs goes on running until its successor can be extracted.
func TestFaultNoRoomForCode(t *testing.T) {
	n, short := poorNode(t, fault.Extract, unix.ENOSPC)
	short.Store(true)
	for range 2 {
		n.shortOf(n.get(api.PathRun+"f"), "worker-failed", "no space left on device")
	}
	if left, err := os.ReadDir(filepath.Join(n.dir, "worker/code")); err != nil || len(left) > 0 {
		t.Errorf("code left: %v, %v", left, err)
	}
	short.Store(false)
	n.expect(n.get(api.PathRun+"f"), http.StatusOK, "first")
	short.Store(true)
	n.expect(n.do(http.MethodPost, api.PathRegistry+"f", pack(t, "f.py", "second")), http.StatusCreated, "")
	n.expect(n.get(api.PathRun+"f"), http.StatusOK, "first")
	short.Store(false)
	n.expect(n.get(api.PathRun+"f"), http.StatusOK, "second")
	n.counted("f", map[string]string{`code="200",function="NAME",start="cold"`: "2", `code="200",function="NAME",start="warm"`: "1"})
}

// A lambda does not notice that its log cannot be written. The log says what it
// lacks.
func TestFaultNoRoomForLogs(t *testing.T) {
	n, short := poorNode(t, fault.Log, unix.ENOSPC)
	print := func(text string) {
		n.expect(n.do(http.MethodPost, api.PathRun+"f", strings.NewReader(text)), http.StatusOK, "first")
	}
	print("one")
	short.Store(true)
	print("two")
	print("three")
	short.Store(false)
	print("four")
	text, err := os.ReadFile(filepath.Join(n.dir, "worker", api.LogDir, "f.log"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 3 || !strings.HasSuffix(lines[0], " one") || !strings.HasSuffix(lines[1], "[2 lines lost: the disk did not take them]") || !strings.HasSuffix(lines[2], " four") {
		t.Errorf("the log is %q", lines)
	}
}

// Without descriptors, or memory, for connections callers wait, and are answered
// when there are some again.
func TestFaultCannotAccept(t *testing.T) {
	for _, why := range []error{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.ENOBUFS} {
		t.Run(why.Error(), func(t *testing.T) {
			dir, refused := t.TempDir(), make(chan struct{})
			write(t, filepath.Join(dir, "registry", "f", "f.py"), "first")
			var times atomic.Int64
			inject := func(p fault.Point) error {
				if p != fault.Accept {
					return nil
				}
				switch n := times.Add(1); {
				case n == 1 || n > 4: // it accepts the first connection
					return nil
				case n == 4:
					close(refused)
				}
				return why
			}
			n := startNodeOn(t, dir, Config{Settings: config.New(dir, 4000), Fault: inject}, speakCode)
			answers := make(chan reply, 4)
			for range cap(answers) {
				go func() { answers <- n.get(api.PathRun + "f") }()
			}
			<-refused
			for range cap(answers) {
				n.expect(<-answers, http.StatusOK, "first")
			}
		})
	}
}

// Sandboxes that live and cannot be reached are no sandboxes that died: the
// caller is told to come again.
func TestFaultCannotDial(t *testing.T) {
	n, short := poorNode(t, "", nil)
	n.provider.Dial = func(string) error {
		if short.Load() {
			return unix.EMFILE
		}
		return nil
	}
	n.expect(n.get(api.PathRun+"f"), http.StatusOK, "first")
	short.Store(true)
	n.shortOf(n.get(api.PathRun+"f"), "no-sandbox", "too many open files")
	short.Store(false)
	n.expect(n.get(api.PathRun+"f"), http.StatusOK, "first")
	n.counted("f", map[string]string{`code="200",function="NAME",start="cold"`: "2", `code="503",function="NAME",start="cold"`: "1"})
}

// A host that can make no sandbox gives 503, whatever the mechanism lacks, and
// the lambda is not to blame.
func TestFaultCannotStart(t *testing.T) {
	n, short := poorNode(t, "", nil)
	start := n.provider.Start
	n.provider.Start = func(ctx context.Context, spec sandbox.Spec) (http.Handler, error) {
		if short.Load() {
			return nil, &sandbox.StartError{Reason: "host cannot make it", Err: unix.EAGAIN}
		}
		return start(ctx, spec)
	}
	short.Store(true)
	n.shortOf(n.get(api.PathRun+"f"), "no-sandbox", "resource temporarily unavailable")
	short.Store(false)
	n.expect(n.get(api.PathRun+"f"), http.StatusOK, "first")
	n.counted("f", map[string]string{`code="200",function="NAME",start="cold"`: "1", `code="503",function="NAME",start="none"`: "1"})
}
