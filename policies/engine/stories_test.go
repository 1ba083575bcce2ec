package engine_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

var update = flag.Bool("update", false, "write the stories in testdata anew")

// story is a small run whose transcript is kept in testdata, to be read.
type story struct {
	name  string
	about string
	run   func(*testing.T) *enginetest.Harness
}

// TestStories compares each run with its transcript; -update writes them anew.
func TestStories(t *testing.T) {
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			got := s.text(s.run(t))
			path := filepath.Join("testdata", s.name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("the story changed (-want +got), -update accepts it:\n%s", d)
			}
		})
	}
}

func (s *story) text(h *enginetest.Harness) string {
	var b strings.Builder
	for l := range strings.Lines(s.about) {
		fmt.Fprintf(&b, "# %s\n", strings.TrimSpace(l))
	}
	fmt.Fprintf(&b, "\n%s\n", h.Transcript())
	for id, r := range h.Results {
		fmt.Fprintf(&b, "r%d: %s\n", id, outcome(r))
	}
	return b.String()
}

func outcome(r enginetest.Result) string {
	switch {
	case r.Served && r.Blocked:
		return fmt.Sprintf("%v (blocked) after %v", r.Kind, r.Wait)
	case r.Served:
		return fmt.Sprintf("%v after %v", r.Kind, r.Wait)
	case r.Rejected != engine.ReasonNone:
		return fmt.Sprintf("rejected after %v: %v", r.Wait, r.Rejected)
	}
	return "not served"
}

// tell makes a harness that logs events too.
func tell(t *testing.T, cfg engine.Config, fns ...enginetest.Fn) *enginetest.Harness {
	t.Helper()
	h := enginetest.New(t, cfg, fns...)
	h.Story = true
	return h
}

func stories() []story {
	all := []story{
		{"pressure", `Memory for two sandboxes of 100 MB; destroying one takes 50 ms.
			f2 evicts the idle one with the lower priority; f3 has to wait until f0 is done.
			Nothing is started before the old sandbox is gone.`, pressure},
		{"learning", `CSS learns. r2's start idles for 690 ms where executions take 40 ms, so r5 only waits.
			Then two executions of 10 s keep both sandboxes: when r8 has waited
			T_p = 100 ms, the race is on again and a sandbox is started for it.`, learning},
		{"trouble", `A start fails three times by the host's fault and is repeated. A sandbox dies under
			r1. r2 finds its own one dead before it is sent, and keeps its place before r3. f1 cannot be imported.`, trouble},
		{"starving", `f0's backlog would keep both sandboxes for ten seconds. f1's start has waited two
			seconds when f0, which holds most memory, loses a sandbox to it.`, starving},
		{"update", `A new revision while one sandbox is busy, one idle and one being provisioned.
			No request is lost, none that came later runs on old code.`, updating},
	}
	for _, preset := range []string{"ttl", "cidre-bss", "cidre"} {
		all = append(all, story{"burst-" + preset, burstAbout[preset], func(t *testing.T) *enginetest.Harness { return burst(t, preset) }})
	}
	return all
}

var burstAbout = map[string]string{
	"ttl": `Four requests at once for one idle sandbox, as in Figure 11 of the paper; cold start 200 ms.
		Under keep-alive three of them get a cold start of their own, and wait for it.`,
	"cidre-bss": `The same four requests as in burst-ttl. BSS starts a sandbox for each of the three as well,
		but whoever is free first takes the oldest: two are served by the busy one.`,
	"cidre": `The same four requests, when CSS has learnt that starts are wasted: they wait for the busy one.
		At 5.2 s the last has waited T_p = 200 ms, so a start is made, which comes too late to be needed.
		(s0 dies before, so that there is one idle sandbox as in the other runs.)`,
}

func burst(t *testing.T, preset string) *enginetest.Harness {
	h := tell(t, config(t, preset, 1000), fn(100, 200*ms))
	h.Arrive(0, 0, 60*ms)
	if preset == "cidre" { // the race of r2 is wasted
		h.Arrive(sec, 0, 60*ms)
		h.Arrive(1010*ms, 0, 60*ms)
		h.Plan(3*sec, engine.Event{Kind: engine.EvDied, Sandbox: 0})
	}
	for range 4 {
		h.Arrive(5*sec, 0, 90*ms)
	}
	h.Run(7 * sec)
	return h
}

func pressure(t *testing.T) *enginetest.Harness {
	h := tell(t, config(t, "cidre", 200), fn(100, 100*ms), fn(100, 300*ms), fn(100, 100*ms), fn(100, 100*ms))
	h.Destroy = 50 * ms
	h.Arrive(0, 0, 10*ms)
	h.Arrive(0, 1, 10*ms)
	h.Arrive(sec, 2, 4*sec)
	h.Arrive(2*sec, 1, sec)
	h.Arrive(2500*ms, 3, 10*ms)
	h.Run(6 * sec)
	return h
}

func learning(t *testing.T) *enginetest.Harness {
	h := tell(t, config(t, "cidre", 1000), fn(100, 100*ms))
	switchOff(h)
	h.Arrive(2*sec, 0, 10*sec)
	h.Arrive(2*sec, 0, 10*sec)
	h.Arrive(2100*ms, 0, 40*ms)
	h.Run(3 * sec)
	return h
}

func trouble(t *testing.T) *enginetest.Harness {
	flaky := fn(100, 100*ms)
	flaky.Fail = func(n int) (engine.Fault, bool) { return engine.FaultHost, n <= 3 }
	broken := fn(100, 100*ms)
	broken.Fail = func(int) (engine.Fault, bool) { return engine.FaultLambda, true }
	h := tell(t, config(t, "cidre-bss", 100), flaky, broken)
	h.Ends = func(a engine.Action) engine.Event {
		switch {
		case a.Req == 1:
			return engine.Event{Kind: engine.EvFinished}
		case a.Req == 2 && a.Wait == 200*ms:
			return engine.Event{Kind: engine.EvReturned}
		}
		return engine.Event{Kind: engine.EvFinished, OK: true}
	}
	h.Arrive(0, 0, 100*ms)
	h.Arrive(1250*ms, 0, 450*ms)
	h.Plan(1500*ms, engine.Event{Kind: engine.EvDied, Sandbox: 0})
	h.Arrive(1600*ms, 0, 20*ms)
	h.Arrive(1700*ms, 0, 20*ms)
	h.Arrive(4*sec, 1, ms)
	h.Run(5 * sec)
	return h
}

func starving(t *testing.T) *enginetest.Harness {
	cfg := config(t, "cidre-bss", 200)
	cfg.StarveMin = 2 * sec
	h := tell(t, cfg, fn(100, 100*ms), fn(100, 100*ms))
	for range 8 {
		h.Arrive(0, 0, time.Second)
	}
	h.Arrive(500*ms, 1, 10*ms)
	h.Run(8 * sec)
	return h
}

func updating(t *testing.T) *enginetest.Harness {
	h := tell(t, config(t, "cidre", 1000), fn(100, 100*ms))
	h.Arrive(0, 0, 900*ms)
	h.Arrive(0, 0, 10*ms)
	h.Arrive(400*ms, 0, 300*ms)
	h.Arrive(650*ms, 0, 10*ms)
	h.Plan(720*ms, engine.Event{Kind: engine.EvDefine, Fn: 0, Spec: policies.Spec{Revision: 2, MB: 100, Slots: 1}})
	h.Arrive(800*ms, 0, 10*ms)
	h.Run(2 * sec)
	return h
}
