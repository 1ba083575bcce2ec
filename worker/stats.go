package worker

import (
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/metrics"
)

func (w *Worker) stats() api.Stats {
	s := api.Stats{}
	w.metrics.Tally.Stats(s)
	t := w.dispatcher.Totals()
	s[api.StatInFlight] = float64(t.InFlight)
	s[api.StatUsedMB] = float64(t.UsedMB)
	s[api.StatPeakMB] = float64(t.PeakMB)
	s[api.StatPoolMB] = float64(w.cfg.Settings.MemPoolMB)
	s[api.StatSandbox] = float64(t.Provisioning + t.Idle + t.Busy + t.Dying)
	if w.bare != nil {
		d := w.bare.Debug()
		s[api.StatUsedMB], s[api.StatPeakMB], s[api.StatSandbox] = float64(d.UsedMB), float64(d.PeakMB), float64(len(d.Sandboxes))
	}
	return s
}

func (w *Worker) node(eng *engine.Engine) metrics.Node {
	t := w.dispatcher.Totals()
	n := metrics.Node{
		Sandboxes: map[string]int{"provisioning": t.Provisioning, "idle": t.Idle, "busy": t.Busy, "dying": t.Dying},
		Bytes:     map[string]int64{"used": t.UsedMB << 20, "peak": t.PeakMB << 20, "pool": int64(w.cfg.Settings.MemPoolMB) << 20},
		Toggles:   map[string]int64{},
		InFlight:  t.InFlight,
	}
	w.dispatcher.Locked(func() {
		for _, c := range eng.Snapshot().Counters {
			switch c.Name {
			case "css_toggles_to_on":
				n.Toggles["race"] = c.Value
			case "css_toggles_to_off":
				n.Toggles["wait"] = c.Value
			}
		}
	})
	return n
}
