package soak

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/pause"
)

// life is what happened since the worker was started.
type life struct {
	number           int
	kinds            []kind
	evicted, started int // as tallied already

	mu      sync.Mutex
	codes   map[string]map[int]int // answers by lambda and status
	sent    map[string]int         // requests by lambda
	ran     map[string]fate        // by request id
	version int                    // of the lambda that is replaced, as installed last
	newest  int                    // of it, as answered so far
}

// fate is what its client knows of a request.
type fate struct {
	lambda string
	good   bool // answered, and well
	cut    bool // beside the kill of the worker
}

func newLife(number int) *life {
	return &life{number: number, kinds: kinds(), codes: map[string]map[int]int{}, sent: map[string]int{}, ran: map[string]fate{}}
}

// seen is the newest version that anybody has been answered by.
func (l *life) seen() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.newest
}

// note keeps what became of a request; a is nil if it got no answer.
func (l *life) note(s sent, a *answer, f fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.kind.silent {
		return
	}
	l.sent[s.lambda]++
	l.ran[s.id] = f
	if a == nil || a.reason() == notFetched {
		return
	}
	if l.codes[s.lambda] == nil {
		l.codes[s.lambda] = map[int]int{}
	}
	l.codes[s.lambda][a.status]++
}

// advance notes that a version has answered.
func (l *life) advance(version int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.newest = max(l.newest, version)
}

func (r *runner) lambda(n int) string { return "soak" + strconv.Itoa(n) }

// settings are the ol.yaml of every lambda.
func (r *runner) settings() map[string]map[string]any {
	all := map[string]map[string]any{
		versioned: r.versionSettings(1),
		limited:   {"limits": map[string]any{"runtime_sec": 1}, "triggers": map[string]any{"http": []map[string]string{{"method": "POST"}}}},
		deserted:  {},
		doomed:    {"limits": map[string]any{"mem_mb": 40}},
	}
	for i := range r.cfg.Lambdas {
		all[r.lambda(i)] = map[string]any{}
	}
	return all
}

func (r *runner) versionSettings(n int) map[string]any {
	return map[string]any{"environment": map[string]string{"VERSION": strconv.Itoa(n)}}
}

func (r *runner) installAll(ctx context.Context) error {
	r.client.CloseIdleConnections() // they led to the worker's last life
	for name, settings := range r.settings() {
		if err := r.install(ctx, name, settings); err != nil {
			return fmt.Errorf("install %s: %w", name, err)
		}
	}
	r.life.mu.Lock()
	defer r.life.mu.Unlock()
	r.life.version, r.life.newest = 1, 0
	return nil
}

// installTries is how often an upload is tried on a host that is made to fail.
const installTries = 10

func (r *runner) install(ctx context.Context, name string, settings map[string]any) error {
	for try := 1; ; try++ {
		err := r.node.Install(ctx, name, settings)
		if err == nil || !r.cfg.Faulty || try == installTries {
			return err
		}
		r.report.count(&r.report.Refused)
	}
}

// havoc replaces code and kills sandboxes while clients are at work.
func (r *runner) havoc(ctx context.Context, until time.Time) error {
	for n := 1; time.Now().Before(until); n++ {
		if !pause.For(ctx, time.Duration(r.random.IntN(600))*time.Millisecond) {
			return ctx.Err()
		}
		if n%3 == 0 {
			if err := r.killSandbox(); err != nil {
				return err
			}
			continue
		}
		if err := r.replace(ctx); err != nil {
			return err
		}
	}
	return nil
}

// replace installs another version of the lambda that is replaced.
func (r *runner) replace(ctx context.Context) error {
	r.life.mu.Lock()
	r.life.version++
	n := r.life.version
	r.life.mu.Unlock()
	if err := r.install(ctx, versioned, r.versionSettings(n)); err != nil {
		return fmt.Errorf("replace code: %w", err)
	}
	r.report.count(&r.report.Updates)
	return nil
}

func (r *runner) killSandbox() error {
	end := r.outages.begin(sandboxKilled)
	defer end()
	done, err := r.node.KillSandbox(r.random.IntN)
	if err == nil && done {
		r.report.count(&r.report.SandboxKills)
	}
	return err
}

// settleOne judges one request and notes what became of it.
func (r *runner) settleOne(s sent, a *answer, err error) {
	verdict, good := r.verdict(s, a, err)
	r.life.note(s, a, fate{s.lambda, good, verdict == cutWorker})
	r.report.note(s.kind.name, verdict)
}

// Verdicts on a request, as they are counted.
const (
	right       = "right"
	left        = "left"           // by its client, as intended
	cutSandbox  = "sandbox killed" // an error, beside the kill of a sandbox
	cutWorker   = "worker killed"  // no answer or an error, beside the kill of the worker
	hostRefused = "host refused"   // an error, on a host that is made to fail
	wrongAnswer = "FAULT"
)

func (r *runner) verdict(s sent, a *answer, err error) (verdict string, good bool) {
	cut := err != nil
	switch {
	case cut && errors.Is(err, errLeft):
		return left, false
	case !cut:
		if err = r.judgeAnswer(s, a); err == nil {
			return right, a.status < http.StatusMultipleChoices
		}
	}
	switch {
	case r.outages.during(workerKilled, s.begun):
		return cutWorker, false
	case !cut && r.cfg.Faulty && a.status == http.StatusServiceUnavailable && slices.Contains(faultReasons(), a.reason()):
		return hostRefused, false
	case a != nil && r.outages.during(sandboxKilled, s.begun) && (cut || slices.Contains(killReasons(), a.reason())):
		return cutSandbox, false
	}
	r.report.fault("%s of %s, request %s: %v", s.kind.name, s.lambda, s.id, err)
	return wrongAnswer, false
}

func (r *runner) judgeAnswer(s sent, a *answer) error {
	if a.id != s.id {
		return fmt.Errorf("the answer has id %q", a.id)
	}
	if err := s.kind.judge(s.id, a); err != nil {
		return err
	}
	return r.judgeVersion(s, a)
}

// killReasons are the documented errors of requests whose sandbox was killed
// while it was made or while it had them.
func killReasons() []string {
	return []string{"sandbox-died", "start-failed", "no-sandbox", "bad-answer"}
}

// notFetched is the word for a lambda whose code the worker could not get: the
// request is not counted as one of the lambda's.
const notFetched = "worker-failed"

// faultReasons are the documented errors of requests that a host which is made
// to fail has no sandbox, or no room, for.
func faultReasons() []string { return []string{"no-sandbox", notFetched} }

// judgeVersion wants code that is not older than any that has answered before
// the request was sent.
func (r *runner) judgeVersion(s sent, a *answer) error {
	if s.lambda != versioned {
		return nil
	}
	e, err := a.echo()
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(e.Version)
	if err != nil {
		return fmt.Errorf("version %q: %w", e.Version, err)
	}
	r.life.advance(n)
	if n < s.floor {
		return fmt.Errorf("version %d after version %d has answered", n, s.floor)
	}
	return nil
}
