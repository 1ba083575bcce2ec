package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// played is a Node that says what a test wants.
type played struct {
	Node
	url  string
	logs map[string]string
	fail int // uploads that are refused
}

func (p *played) URL() string                     { return p.url }
func (p *played) Log(name string) ([]byte, error) { return []byte(p.logs[name]), nil }

func (p *played) Install(context.Context, string, map[string]any) error {
	if p.fail--; p.fail >= 0 {
		return errors.New("no room")
	}
	return nil
}

func newRunner(p *played, faulty bool) *runner {
	cfg := Config{Clients: 1, Lambdas: 2, Faulty: faulty, Talk: io.Discard}
	return &runner{cfg: cfg, node: p, report: newReport(cfg), life: newLife(0), client: http.DefaultClient}
}

func echoKind() *kind { return &kind{name: "echo", judge: good} }

func fine(id string) *answer {
	return &answer{status: 200, id: id, body: fmt.Appendf(nil, `{"id": %q, "version": "3"}`, id)}
}

func refusal(id string, status int, reason string) *answer {
	return &answer{status: status, id: id, kind: "application/problem+json", body: fmt.Appendf(nil, `{"status": %d, "reason": %q}`, status, reason)}
}

// An answer is right, excused by what was done at the time, or a fault.
func TestVerdicts(t *testing.T) {
	other := fine("b")
	other.id = "a"
	tests := []struct {
		name   string
		a      *answer
		err    error
		beside []cause
		faulty bool
		want   string
	}{
		{name: "right", a: fine("a"), want: right},
		{name: "somebody else's", a: other, want: wrongAnswer},
		{name: "somebody else's beside the kill of a sandbox", a: other, beside: []cause{sandboxKilled}, want: wrongAnswer},
		{name: "somebody else's on a host that fails", a: other, faulty: true, want: wrongAnswer},
		{name: "no answer", err: io.EOF, want: wrongAnswer},
		{name: "no answer beside the kill of a sandbox", err: io.EOF, beside: []cause{sandboxKilled}, want: wrongAnswer},
		{name: "no answer beside the kill of the worker", err: io.EOF, beside: []cause{workerKilled}, want: cutWorker},
		{name: "cut off", a: fine("a"), err: io.ErrUnexpectedEOF, want: wrongAnswer},
		{name: "cut off beside the kill of a sandbox", a: fine("a"), err: io.ErrUnexpectedEOF, beside: []cause{sandboxKilled}, want: cutSandbox},
		{name: "died", a: refusal("a", 502, "sandbox-died"), want: wrongAnswer},
		{name: "died beside the kill of a sandbox", a: refusal("a", 502, "sandbox-died"), beside: []cause{sandboxKilled}, want: cutSandbox},
		{name: "unknown beside the kill of a sandbox", a: refusal("a", 404, "unknown-lambda"), beside: []cause{sandboxKilled}, want: wrongAnswer},
		{name: "no sandbox", a: refusal("a", 503, "no-sandbox"), want: wrongAnswer},
		{name: "no sandbox on a host that fails", a: refusal("a", 503, "no-sandbox"), faulty: true, want: hostRefused},
		{name: "unknown on a host that fails", a: refusal("a", 404, "unknown-lambda"), faulty: true, want: wrongAnswer},
		{name: "cut off on a host that fails", a: refusal("a", 503, "no-sandbox"), err: io.ErrUnexpectedEOF, faulty: true, want: wrongAnswer},
		{name: "the client left", err: errLeft, want: left},
	}
	for _, tt := range tests {
		r := newRunner(&played{}, tt.faulty)
		for _, c := range tt.beside {
			r.outages.begin(c)()
		}
		s := sent{kind: echoKind(), lambda: "soak0", id: "a", begun: time.Now()}
		if got, _ := r.verdict(s, tt.a, tt.err); got != tt.want || r.report.Good() != (tt.want != wrongAnswer) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Code that was replaced does not come back.
func TestVersionsDoNotGoBack(t *testing.T) {
	r := newRunner(&played{}, false)
	for floor, want := range map[int]string{3: right, 4: wrongAnswer} {
		s := sent{kind: echoKind(), lambda: versioned, id: "a", begun: time.Now(), floor: floor}
		if got, _ := r.verdict(s, fine("a"), nil); got != want {
			t.Errorf("version 3 after version %d is %s", floor, got)
		}
	}
	if r.life.seen() != 3 {
		t.Errorf("version %d was seen", r.life.seen())
	}
}

func TestLogsAreCounted(t *testing.T) {
	a, b, c := strings.Repeat("a", idLength), strings.Repeat("b", idLength), strings.Repeat("c", idLength)
	ran := func(ids ...string) (text string) {
		for _, id := range ids {
			text += "2026-01-02T03:04:05.000Z " + id + " ran " + id + "\n"
		}
		return text
	}
	lost := "2026-01-02T03:04:05.000Z - [2 lines lost: the disk did not take them]\n"
	tests := []struct {
		name          string
		log           string
		faulty, whole bool
		bad           bool
		begun, lost   int
	}{
		{name: "all", log: ran(a, b, c), whole: true, begun: 1},
		{name: "the one that was cut off did not begin", log: ran(a, b), whole: true},
		{name: "one is missing", log: ran(a), whole: true, bad: true},
		{name: "one is missing of a life that was cut short", log: ran(a)},
		{name: "twice", log: ran(a, b, a), bad: true},
		{name: "cut off and twice", log: ran(a, b, c, c), bad: true},
		{name: "missing and admitted", log: lost, faulty: true, whole: true, lost: 2},
		{name: "admitted where nothing fails", log: lost, whole: true, bad: true, lost: 2},
	}
	for _, tt := range tests {
		r := newRunner(&played{logs: map[string]string{"soak0": tt.log}}, tt.faulty)
		s := sent{kind: echoKind(), lambda: "soak0"}
		for id, f := range map[string]fate{a: {"soak0", true, false}, b: {"soak0", true, false}, c: {"soak0", false, true}} {
			s.id = id
			r.life.note(s, fine(id), f)
		}
		found, err := r.logsMatch(tt.whole)
		if (err != nil) != tt.bad || err == nil && (found.begun != tt.begun || found.lost != tt.lost) {
			t.Errorf("%s: %+v, %v", tt.name, found, err)
		}
	}
}

// What was counted is what clients got. Requests whose code could not be had
// are counted for no lambda.
func TestCountersAreCompared(t *testing.T) {
	text := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.PathMetrics {
			fmt.Fprint(w, "# TYPE ol_invocations_total counter\n# TYPE ol_in_flight gauge\n", text)
		}
	}))
	defer server.Close()
	r := newRunner(&played{url: server.URL}, true)
	s := sent{kind: echoKind(), lambda: "soak0", id: "a"}
	r.life.note(s, fine("a"), fate{})
	r.life.note(s, refusal("a", 503, "no-sandbox"), fate{})
	r.life.note(s, refusal("a", 503, "worker-failed"), fate{})
	count := func(code, n int) string {
		return fmt.Sprintf("ol_invocations_total{code=\"%d\",function=\"soak0\",start=\"cold\"} %d\n", code, n)
	}
	for metrics, ok := range map[string]bool{
		count(200, 1) + count(503, 1):                      true,
		count(200, 1) + count(503, 2):                      false,
		count(200, 1):                                      false,
		count(200, 1) + count(503, 1) + "ol_in_flight 1\n": false,
	} {
		text = metrics
		if err := r.countersMatch(t.Context()); (err == nil) != ok {
			t.Errorf("%q: %v", metrics, err)
		}
	}
}

func TestUploadsAreTriedAgain(t *testing.T) {
	for _, tt := range []struct {
		fail   int
		faulty bool
		ok     bool
	}{{0, false, true}, {1, false, false}, {3, true, true}, {installTries, true, false}} {
		r := newRunner(&played{fail: tt.fail}, tt.faulty)
		if err := r.install(t.Context(), "soak0", nil); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// Whatever a worker holds more of than before is named, beyond the slack.
func TestHoldingMore(t *testing.T) {
	var before, after Holding
	if more := after.exceeds(before); more != nil {
		t.Errorf("nothing exceeds %v", more)
	}
	after = slack()
	if more := after.exceeds(before); more != nil {
		t.Errorf("the slack exceeds %v", more)
	}
	after.Links, after.Tables, after.Dead, after.Orphans, after.DiskKB = 1, 1, 1, 1, 1
	after.Descriptors++
	if more := after.exceeds(before); len(more) != 6 {
		t.Errorf("%q", more)
	}
}

// The census counts files but locks, and firewall and links by name.
func TestCensus(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: the firewall is shown to root")
	}
	dir := t.TempDir()
	for _, name := range []string{"a", "sub/b", "sub/lock"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, make([]byte, 1500), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	m := Machine{Instance: "soak-test-none", Link: "lo", Table: "soak-test-none", Dirs: []string{dir, filepath.Join(dir, "missing")}}
	got, err := m.Left()
	if want := (Left{Links: 1, Files: 2, DiskKB: 4}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// A process that has ended is not alive, whoever has its number.
func TestFamily(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := Descendants(os.Getpid())
	if _, ok := f[cmd.Process.Pid]; err != nil || !ok || f.Alive() != len(f) {
		t.Errorf("%v, %d alive, %v", f, f.Alive(), err)
	}
	only := Family{cmd.Process.Pid: f[cmd.Process.Pid]}
	recycled := Family{cmd.Process.Pid: f[cmd.Process.Pid] + 1}
	if only.Alive() != 1 || recycled.Alive() != 0 {
		t.Error("who is alive is told by more than the number")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if only.Alive() != 0 {
		t.Error("a killed process is alive")
	}
}

// Clients keep to the rate together, and do not make up for what they missed.
func TestPace(t *testing.T) {
	r := newRunner(&played{}, false)
	now := time.Now()
	if next := r.pace(t.Context(), now); next != now {
		t.Error("without a rate a client waits")
	}
	r.cfg.Clients, r.cfg.Rate = 4, 1000
	if next := r.pace(t.Context(), now.Add(time.Second)); next != now.Add(time.Second+4*time.Millisecond) {
		t.Errorf("the next request is %v later", next.Sub(now))
	}
	if next := r.pace(t.Context(), now.Add(-time.Hour)); next.Before(now) {
		t.Error("a client makes up for an hour")
	}
}
