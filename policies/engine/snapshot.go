package engine

import "github.com/open-lambda/open-lambda/policies"

// Snapshot is a copy of the engine's state for people and metrics.
type Snapshot struct {
	Now      policies.Time
	Node     policies.Node
	PinnedMB int64
	Funcs    []policies.Func    // by FuncID
	Boxes    []policies.Sandbox // those not gone, by SandboxID
	Counters []Counter          // what the policies report
}

// Counter is a number that a policy reports.
type Counter struct {
	Name  string
	Value int64
}

// Snapshot copies the state. It takes time in proportion to the state, so it
// is not for the hot path.
func (e *Engine) Snapshot() Snapshot {
	s := Snapshot{Now: e.now, Node: e.node, PinnedMB: e.pinnedMB}
	for _, f := range e.funcs {
		s.Funcs = append(s.Funcs, f.Func)
	}
	for _, b := range e.boxes {
		if b.State != policies.Gone {
			s.Boxes = append(s.Boxes, b.Sandbox)
		}
	}
	put := func(name string, value int64) {
		s.Counters = append(s.Counters, Counter{name, value})
	}
	for _, p := range []any{e.cfg.Scaler, e.cfg.Evictor, e.cfg.Picker, e.cfg.Prewarmer} {
		if r, ok := p.(policies.Reporter); ok {
			r.Report(put)
		}
	}
	return s
}

// View returns what the policies see, for a Placer before several engines.
// It is live: nobody may use it while Step runs.
func (e *Engine) View() policies.View { return &e.state }
