package boss_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/boss/async"
	asyncmemory "github.com/open-lambda/open-lambda/boss/async/memory"
	"github.com/open-lambda/open-lambda/boss/registry/memory"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
)

// shared is the store of some bosses, in memory.
type shared struct {
	lambdas *memory.Store
	queue   *asyncmemory.Queue
	states  *asyncmemory.States
}

func newShared() *shared {
	return &shared{memory.New(), asyncmemory.NewQueue(1000, 2*time.Second), asyncmemory.NewStates()}
}

func (s *shared) boss(t *testing.T, cfg boss.Config) *runningBoss {
	t.Helper()
	cfg.Registry = newRegistry(t, s.lambdas)
	cfg.Async = &async.Config{Queue: s.queue, States: s.states, Slots: 8, Default: lambda.Async{BaseMS: 10, CapMS: 100}}
	return startBoss(t, cfg)
}

func stateOf(t *testing.T, b *runningBoss, id string) (s api.AsyncState) {
	t.Helper()
	resp, body := get(t, http.MethodGet, b.url+api.PathAsync+id, nil, nil)
	if err := json.Unmarshal(body, &s); err != nil || resp.StatusCode != 200 {
		t.Fatalf("got %s: %s", resp.Status, body)
	}
	return s
}

// enqueue sends an invocation whose id is returned.
func enqueue(t *testing.T, b *runningBoss, fn, body string, header http.Header) string {
	t.Helper()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Prefer", "respond-async")
	resp, text := get(t, http.MethodPost, b.url+api.PathRun+fn, strings.NewReader(body), header)
	if resp.StatusCode != http.StatusAccepted || resp.Header.Get("Location") != api.PathAsync+resp.Header.Get(api.HeaderRequestID) {
		t.Fatalf("got %s %v: %s", resp.Status, resp.Header, text)
	}
	return resp.Header.Get(api.HeaderRequestID)
}

// withYAML is the archive of a lambda with an ol.yaml.
func withYAML(t *testing.T, yaml string) []byte {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, dir+"/f.py", "def f(event): return event\n")
	writeFile(t, dir+"/ol.yaml", yaml)
	var b bytes.Buffer
	if err := archive.Pack(&b, dir, "f.py"); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func installYAML(t *testing.T, b *runningBoss, name, yaml string) {
	t.Helper()
	resp, body := get(t, http.MethodPost, b.url+api.PathRegistry+name, bytes.NewReader(withYAML(t, yaml)), nil)
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("install %s: %s: %s", name, resp.Status, body)
	}
}

// One boss takes the invocation, any of them runs it, and all show its answer.
func TestAsyncInvocation(t *testing.T) {
	s := newShared()
	a, b := s.boss(t, boss.Config{}), s.boss(t, boss.Config{})
	workers := startWorkers(t, 2, emulate.Config{Record: true}, a, b)
	installYAML(t, a, "echo", "async: {attempts: 2}")
	await(t, "both know the lambda", func() bool {
		resp, _ := get(t, http.MethodHead, b.url+api.PathRegistry+"echo", nil, nil)
		return resp.StatusCode == 200
	})
	id := enqueue(t, a, "echo", "hello", nil)
	await(t, "an answer", func() bool { return stateOf(t, b, id).State == api.AsyncDone })
	if st := stateOf(t, b, id); st.Status != 200 || st.Body != "hello" || st.Header.Get(api.HeaderWorker) == "" {
		t.Errorf("got %+v", st)
	}
	if n := ran(workers)[id]; n != 1 {
		t.Errorf("it ran %d times", n)
	}

	// Connections that break are failures; ol.yaml allows for two.
	for _, w := range workers {
		w.Misbehave(emulate.BreakBody)
	}
	id = enqueue(t, b, "echo", "x", nil)
	await(t, "the dead-letter list", func() bool { return stateOf(t, a, id).State == api.AsyncDead })
	if st := stateOf(t, a, id); st.Attempts != 2 || ran(workers)[id] != 2 || !strings.Contains(st.Why, "broke off") {
		t.Errorf("ran %d times: %+v", ran(workers)[id], st)
	}

	resp, body := get(t, http.MethodPost, a.url+api.PathRun+"nobody?async=true", nil, nil)
	if resp.StatusCode != 404 || reason(t, body) != "unknown-lambda" {
		t.Errorf("got %s: %s", resp.Status, body)
	}
}

// Failure table: a boss is killed with jobs in progress: another one runs them
// again.
func TestAsyncOutlivesBoss(t *testing.T) {
	s := newShared()
	a, b := s.boss(t, boss.Config{Drain: time.Nanosecond}), s.boss(t, boss.Config{})
	workers := startWorkers(t, 2, emulate.Config{Record: true, Delay: 300 * time.Millisecond}, a, b)
	installYAML(t, b, "echo", "")
	var ids []string
	for range 40 {
		ids = append(ids, enqueue(t, b, "echo", "x", nil))
	}
	await(t, "some to run", func() bool { return len(ran(workers)) > 10 })
	a.end()
	await(t, "all answers", func() bool {
		for _, id := range ids {
			if stateOf(t, b, id).State != api.AsyncDone {
				return false
			}
		}
		return true
	})
	for _, id := range ids {
		if ran(workers)[id] == 0 {
			t.Errorf("%s never ran", id)
		}
	}
}

// Who asks for it to be asynchronous of a boss without a store is answered all
// the same (RFC 7240, section 2: preferences may be ignored).
func TestAsyncWithoutStore(t *testing.T) {
	b := startBoss(t, boss.Config{})
	startWorkers(t, 1, emulate.Config{}, b)
	resp, body := get(t, http.MethodPost, b.url+"/run/echo", strings.NewReader("x"), http.Header{"Prefer": {"respond-async"}})
	if resp.StatusCode != 200 || string(body) != "x" || resp.Header.Get("Preference-Applied") != "" {
		t.Errorf("got %s: %s", resp.Status, body)
	}
}

// Dead letters are for those who have the token; an id is enough for its answer.
func TestDeadLettersWantTheToken(t *testing.T) {
	s := newShared()
	b := s.boss(t, boss.Config{Token: "secret"})
	const id = "01a2297b-835e-70ae-9ace-49153b1467f2"
	for _, tc := range []struct {
		method, path string
		bare, shown  int
	}{
		{http.MethodGet, api.PathDead, 401, 200},
		{http.MethodPost, api.PathDead + id + "/retry", 401, 404},
		{http.MethodDelete, api.PathDead + id, 401, 404},
		{http.MethodGet, api.PathAsync + id, 404, 404},
		{http.MethodDelete, api.PathAsync + id, 404, 404},
	} {
		for header, want := range map[*http.Header]int{{}: tc.bare, {"Authorization": {"Bearer secret"}}: tc.shown} {
			if resp, body := get(t, tc.method, b.url+tc.path, nil, *header); resp.StatusCode != want {
				t.Errorf("%s %s: got %s, want %d: %s", tc.method, tc.path, resp.Status, want, body)
			}
		}
	}
}

// Three bosses, one of them with a clock that is ahead, make each tick of a cron
// trigger once; and it goes away with its lambda.
func TestCronTrigger(t *testing.T) {
	s := newShared()
	ahead := func() time.Time { return time.Now().Add(2 * time.Second) }
	bosses := []*runningBoss{s.boss(t, boss.Config{}), s.boss(t, boss.Config{}), s.boss(t, boss.Config{Now: ahead})}
	workers := startWorkers(t, 1, emulate.Config{Record: true}, bosses...)
	begun := time.Now()
	installYAML(t, bosses[0], "every", "triggers: {http: [], cron: [{schedule: '@every 1s'}]}")
	await(t, "five ticks", func() bool { return len(ran(workers)) >= 5 })
	if n, most := len(ran(workers)), int(time.Since(begun)/time.Second)+4; n > most {
		t.Errorf("%d ticks within %v", n, time.Since(begun))
	}
	for id, n := range ran(workers) {
		st := stateOf(t, bosses[1], id)
		if n != 1 || st.Trigger != api.TriggerCron || st.Target != "/run/every/" {
			t.Errorf("%s ran %d times: %+v", id, n, st)
		}
	}
	if resp, body := get(t, http.MethodDelete, bosses[1].url+api.PathRegistry+"every", nil, nil); resp.StatusCode != 200 {
		t.Fatalf("got %s: %s", resp.Status, body)
	}
	before := -1
	awaitEvery(t, 3*time.Second, "no more ticks", func() bool {
		n := len(ran(workers))
		still := n == before
		before = n
		return still
	})
}

// A client cannot pass for a trigger.
func TestClientIsNoTrigger(t *testing.T) {
	s := newShared()
	b := s.boss(t, boss.Config{})
	startWorkers(t, 1, emulate.Config{}, b)
	installYAML(t, b, "echo", "")
	id := enqueue(t, b, "echo", "", http.Header{api.HeaderTrigger: {api.TriggerCron}})
	await(t, "an answer", func() bool { return stateOf(t, b, id).State == api.AsyncDone })
	if st := stateOf(t, b, id); st.Trigger != "" {
		t.Errorf("got %+v", st)
	}
}
