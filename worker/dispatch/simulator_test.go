package dispatch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/pause"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/trace"
	"github.com/open-lambda/open-lambda/worker/fake"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// actionLog writes down what an engine decided, and when. Requests are named
// by their order of arrival and sandboxes by their order of start: the numbers
// that the driver and the engine reuse differ where two sandboxes are gone at
// one moment.
type actionLog struct {
	lines     []string
	requests  map[policies.RequestID]int
	sandboxes map[policies.SandboxID]int
	arrived   int
	started   int
}

func newActionLog() *actionLog {
	return &actionLog{requests: map[policies.RequestID]int{}, sandboxes: map[policies.SandboxID]int{}}
}

func (l *actionLog) event(ev *engine.Event) {
	if ev.Kind == engine.EvArrive {
		l.requests[ev.Req] = l.arrived
		l.arrived++
	}
}

func (l *actionLog) action(now policies.Time, a *engine.Action) {
	if a.Kind == engine.ActStart {
		l.sandboxes[a.Sandbox] = l.started
		l.started++
	}
	line := fmt.Sprintf("%d kind %d f%d", now, a.Kind, a.Fn)
	switch a.Kind {
	case engine.ActRun:
		line += fmt.Sprintf(" r%d in s%d %v blocked %v wait %v", l.requests[a.Req], l.sandboxes[a.Sandbox], a.Start, a.Blocked, a.Wait)
	case engine.ActReject:
		line += fmt.Sprintf(" r%d %v", l.requests[a.Req], a.Reason)
	case engine.ActStart, engine.ActDestroy, engine.ActReshape:
		line += fmt.Sprintf(" s%d %v", l.sandboxes[a.Sandbox], a.Reason)
	}
	l.lines = append(l.lines, line)
}

// logged is an engine whose decisions are written down. The dispatcher's mutex
// serialises its calls.
type logged struct {
	*engine.Engine
	log *actionLog
}

func (e logged) Step(now policies.Time, ev engine.Event, out []engine.Action) []engine.Action {
	e.log.event(&ev)
	out = e.Engine.Step(now, ev, out)
	for i := range out {
		e.log.action(now, &out[i])
	}
	return out
}

const comparedPoolMB = 700

// compared is a workload under pressure. Times are odd nanoseconds, and all
// sandboxes are of one size, so that one victim never makes room for two
// starts: nothing happens at the same moment, where the order of goroutines
// would decide.
func compared() ([]trace.Profile, []trace.Invocation) {
	r := rand.New(rand.NewPCG(1, 2))
	var functions []trace.Profile
	for i := range 6 {
		functions = append(functions, trace.Profile{
			Name: "f" + strconv.Itoa(i), MB: 100, Cold: time.Duration(100_000_000 + r.IntN(400_000_000)),
		})
	}
	var all []trace.Invocation
	at := time.Duration(0)
	for range 400 {
		at += time.Duration(r.ExpFloat64() * float64(40*time.Millisecond))
		all = append(all, trace.Invocation{At: at, Function: r.IntN(6), Exec: time.Duration(1_000_000 + r.IntN(400_000_000))})
	}
	return functions, all
}

// One trace through the simulator and through the dispatcher gives the same
// actions at the same moments.
func TestSimulatorAndDispatcherDecideAlike(t *testing.T) {
	for _, preset := range []string{"cidre", "cidre-bss", "cidre+", "ttl", "faascache", "queue-length"} {
		t.Run(preset, func(t *testing.T) {
			functions, calls := compared()
			want := simulated(t, preset, functions, calls)
			if len(want) < 500 {
				t.Fatalf("only %d actions", len(want))
			}
			synctest.Test(t, func(t *testing.T) {
				got := dispatched(t, preset, functions, calls)
				if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
					t.Errorf("-simulator +dispatcher\n%.3000s", diff)
				}
			})
		})
	}
}

func simulated(t *testing.T, preset string, functions []trace.Profile, calls []trace.Invocation) []string {
	t.Helper()
	log := newActionLog()
	_, err := sim.Run(t.Context(), sim.Config{
		Workload: trace.FromSlice("compared", 0, functions, calls), Nodes: 1, PoolMB: comparedPoolMB,
		Policy: func(policies.Oracle) (catalog.Policy, error) { return catalog.New(preset, "", "", catalog.Params{}) },
		Spec: func(p trace.Profile) policies.Spec {
			return policies.Spec{Revision: 1, MB: p.MB, Slots: 1, ColdEst: p.Cold}
		},
		Event: func(_ policies.Time, _ int, ev *engine.Event) { log.event(ev) },
		Watch: func(now policies.Time, _ int, a *engine.Action) { log.action(now, a) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return log.lines
}

// dispatched runs the trace in synctest's time.
func dispatched(t *testing.T, preset string, functions []trace.Profile, calls []trace.Invocation) []string {
	t.Helper()
	p, err := catalog.New(preset, "", "", catalog.Params{})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(engine.Config{
		PoolMB: comparedPoolMB, Scaler: p.Scaler, Evictor: p.Evictor, Picker: p.Picker, Prewarmer: p.Prewarmer,
	})
	if err != nil {
		t.Fatal(err)
	}
	cold := map[string]time.Duration{}
	for _, f := range functions {
		cold[f.Name] = f.Cold
	}
	provider := &fake.Provider{Start: func(ctx context.Context, spec sandbox.Spec) (http.Handler, error) {
		if !pause.For(ctx, cold[spec.Function]) {
			return nil, ctx.Err()
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			i, _ := strconv.Atoi(r.URL.Query().Get("id"))
			slow(calls[i].Exec)(w, r)
		}), nil
	}}
	log := newActionLog()
	d, err := New(Config{Engine: logged{eng, log}, Provider: provider, Freeze: -1, Prefix: "t-"})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	var fns []*Func
	for _, f := range functions {
		fn := NewFunc(f.Name)
		d.Define(fn, &Revision{
			Spec: sandbox.Spec{Function: f.Name, Dir: "1"}, Engine: policies.Spec{MB: f.MB, Slots: 1, ColdEst: f.Cold},
		})
		fns = append(fns, fn)
	}
	var wg sync.WaitGroup
	for i, c := range calls {
		time.Sleep(time.Until(begin.Add(c.At))) // synctest's clock
		wg.Go(func() {
			if _, err := d.Do(context.Background(), fns[c.Function], &get{id: strconv.Itoa(i)}); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	lines := append([]string(nil), log.lines...)
	if err := d.Close(context.Background()); err != nil {
		t.Error(err)
	}
	return lines
}
