package repro

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/replay/timeline"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/story"
	"github.com/open-lambda/open-lambda/src/trace"
)

// Recordings of the burst on real sandboxes, see recorded/PROVENANCE.md.
//
//go:embed recorded/fig4-*.json
var recordings embed.FS

// What is shown of the burst: a little before R0 comes until the last sandbox is
// ready.
const (
	burstAt   = time.Second
	burstFrom = burstAt - 40*time.Millisecond
	burstTo   = burstAt + 460*time.Millisecond
)

func fig4Policies() []contender { return only("CIDRE", "LRU") }

func fig4() Figure {
	return Figure{
		ID: "fig4", Title: "Waiting for a busy sandbox or starting another", Where: "Fig. 4, section 2.3", Ran: "an illustration, without numbers",
		Origin: "recorded on real sandboxes and kept with the program; beside it the simulator, which runs now",
		Note:   "One warm sandbox, R0 and three more requests within 30 ms; an execution takes 100 ms, a cold start 300 ms, times the scale. Repeat the recording: ol replay --trace fig4 --init sleep --record FILE.",
		Draw:   drawFig4,
		Claims: func(Scene) []Claim {
			bursts := sync.OnceValues(openBursts)
			return []Claim{
				order("Fig. 4", "R1 waits less for the busy sandbox than for a new one (real sandboxes)", "ms", fig4Saves(bursts, func(b burstRun) []*timeline.Track { return b.real })).from(recorded),
				order("Fig. 4", "R1 waits less for the busy sandbox than for a new one (simulated)", "ms", fig4Saves(bursts, func(b burstRun) []*timeline.Track { return b.simulated })).from(noChance),
			}
		},
	}
}

// burstRun is the burst under one policy from shortly before R0 on.
type burstRun struct {
	kept            *timeline.Recording
	from, to        time.Duration
	real, simulated []*timeline.Track
}

func openBurst(policy string) (burstRun, error) {
	text, err := recordings.ReadFile("recorded/fig4-" + policy + ".json")
	if err != nil {
		return burstRun{}, fmt.Errorf("open recording of %s: %w", policy, err)
	}
	b := burstRun{}
	if b.kept, err = timeline.ReadRecording(bytes.NewReader(text)); err != nil {
		return b, err
	}
	scaled := func(d time.Duration) time.Duration { return time.Duration(float64(d) * b.kept.Scale) }
	b.from, b.to = scaled(burstFrom), scaled(burstTo)
	b.real = Within(b.kept.Tracks(), b.from, b.to)
	made, err := simulatedBurst(policy, scaled)
	b.simulated = Within(made, b.from, b.to)
	return b, err
}

// openBursts opens the burst under each policy, by its name.
func openBursts() (map[string]burstRun, error) {
	all := map[string]burstRun{}
	for _, c := range fig4Policies() {
		b, err := openBurst(c.policy)
		if err != nil {
			return nil, err
		}
		all[c.policy] = b
	}
	return all, nil
}

// fig4Saves is by how much R1 waits less under CIDRE than under LRU, ms; the same
// for every seed.
func fig4Saves(bursts func() (map[string]burstRun, error), side func(burstRun) []*timeline.Track) measure {
	return func(*Data, uint64) float64 {
		runs, err := bursts()
		if err != nil {
			return none()
		}
		cidre, lru := requests(side(runs["cidre"])), requests(side(runs["lru"]))
		if len(cidre) < 2 || len(lru) < 2 {
			return none()
		}
		return inMS(lru[1].span().Wait) - inMS(cidre[1].span().Wait)
	}
}

func drawFig4(*Data) (*Report, error) {
	r := &Report{}
	t := Table{Title: "wait of each request (ms)", Keys: []string{"policy", "request", "start", "on"}}
	var real, simulated []SandboxPanel
	bursts, err := openBursts()
	if err != nil {
		return nil, err
	}
	var b burstRun
	for _, c := range fig4Policies() {
		b = bursts[c.policy]
		r.Text = append(r.Text, fmt.Sprintf("%s was recorded on %s; mean load %.1f, all times x%.3g.", c.name, b.kept.Machine, b.kept.Load, b.kept.Scale))
		real, simulated = append(real, SandboxPanel{c.name, b.real}), append(simulated, SandboxPanel{c.name, b.simulated})
		t.Rows = append(append(t.Rows, fig4Rows(c.name, "real sandboxes", recorded, b.real)...), fig4Rows(c.name, "simulator", noChance, b.simulated)...)
	}
	r.Tables = []Table{t}
	r.Charts = []Drawing{
		{"fig4", SandboxChart("Real sandboxes: R0 runs, R1 to R3 come", real, b.from, b.to)},
		{"fig4-simulated", SandboxChart("Simulated: R0 runs, R1 to R3 come", simulated, b.from, b.to)},
	}
	return r, nil
}

func fig4Rows(policy, on, source string, tracks []*timeline.Track) []Row {
	var rows []Row
	for i, a := range requests(tracks) {
		rows = append(rows, Row{Key: []string{policy, fmt.Sprintf("R%d", i), a.span().What, on}, Ours: single(inMS(a.span().Wait)), Paper: none(), Source: source})
	}
	return rows
}

// simulatedBurst runs the burst in the simulator, which says what a worker's events
// would.
func simulatedBurst(policy string, scaled func(time.Duration) time.Duration) ([]*timeline.Track, error) {
	b := story.Burst()
	for i := range b.Functions {
		b.Functions[i].Cold = scaled(b.Functions[i].Cold)
	}
	for i := range b.Calls {
		b.Calls[i].At, b.Calls[i].Exec = scaled(b.Calls[i].At), scaled(b.Calls[i].Exec)
	}
	l := &eventLog{functions: b.Functions}
	_, err := sim.Run(context.Background(), sim.Config{
		Workload: trace.FromSlice(b.Title, 0, b.Functions, b.Calls), Nodes: 1, PoolMB: b.PoolMB,
		Policy: func(o policies.Oracle) (catalog.Policy, error) {
			return catalog.New(policy, "", "", catalog.Params{Oracle: o})
		},
		Event: l.event, Watch: l.action,
	})
	if err != nil {
		return nil, fmt.Errorf("simulate the burst under %s: %w", policy, err)
	}
	return timeline.Tracks([]timeline.Recorded{{Events: l.events}}, time.Unix(0, 0)), nil
}

// eventLog puts what the engine is told and decides into a worker's events.
type eventLog struct {
	functions []trace.Profile
	events    []api.Event
}

func (l *eventLog) add(now policies.Time, kind string, box policies.SandboxID, e api.Event) {
	e.At, e.Kind, e.Sandbox = int64(now), kind, fmt.Sprintf("s%d", box)
	l.events = append(l.events, e)
}

func (l *eventLog) event(now policies.Time, _ int, e *engine.Event) {
	switch e.Kind {
	case engine.EvReady:
		l.add(now, api.EventReady, e.Sandbox, api.Event{})
	case engine.EvFinished:
		l.add(now, api.EventDone, e.Sandbox, api.Event{})
	case engine.EvGone:
		l.add(now, api.EventGone, e.Sandbox, api.Event{})
	case engine.EvArrive, engine.EvDefine, engine.EvForget, engine.EvEstimate, engine.EvCancel, engine.EvReturned,
		engine.EvFailed, engine.EvDied, engine.EvReshaped, engine.EvResize, engine.EvTick:
	}
}

func (l *eventLog) action(now policies.Time, _ int, a *engine.Action) {
	switch a.Kind {
	case engine.ActStart:
		l.add(now, api.EventStart, a.Sandbox, api.Event{Function: l.functions[a.Fn].Name, MB: int64(a.MB)})
	case engine.ActRun:
		l.add(now, api.EventRun, a.Sandbox, api.Event{Start: a.Start.String(), Wait: int64(a.Wait)})
	case engine.ActDestroy:
		l.add(now, api.EventDestroy, a.Sandbox, api.Event{Reason: a.Reason.String()})
	case engine.ActReshape, engine.ActReject:
	}
}
