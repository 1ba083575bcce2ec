package dispatch

import (
	"cmp"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// Totals are numbers of the node, cheap to get.
type Totals struct {
	InFlight       int // requests waiting or running
	UsedMB, PeakMB int64
	Provisioning   int
	Idle           int
	Busy           int
	Dying          int
}

// Totals counts under the mutex without asking a sandbox.
func (d *Dispatcher) Totals() Totals {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := Totals{InFlight: d.calls.live, UsedMB: d.usedMB, PeakMB: d.peakMB}
	for _, b := range d.boxes {
		if b == nil {
			continue
		}
		switch b.describe() {
		case "provisioning":
			t.Provisioning++
		case "busy":
			t.Busy++
		case "idle":
			t.Idle++
		default:
			t.Dying++
		}
	}
	return t
}

// describe names the state. Dispatcher.mu is held.
func (b *box) describe() string {
	switch {
	case b.state == provisioning:
		return "provisioning"
	case b.state != ready:
		return "dying"
	case b.running.Load() > 0:
		return "busy"
	}
	return "idle"
}

// Debug describes every sandbox, sorted by id.
func (d *Dispatcher) Debug() api.Debug {
	d.mu.Lock()
	out := api.Debug{PoolMB: d.cfg.PoolMB, UsedMB: d.usedMB, PeakMB: d.peakMB, Sandboxes: []api.SandboxState{}}
	boxes := make([]*box, 0, len(d.boxes))
	for _, b := range d.boxes {
		if b == nil {
			continue
		}
		boxes = append(boxes, b)
		out.Sandboxes = append(out.Sandboxes, api.SandboxState{
			ID: b.spec.ID, Function: b.fn.name, State: b.describe(), LimitMB: b.mb, Uses: b.uses,
			AgeMS: float64(time.Since(b.born)) / float64(time.Millisecond),
		})
	}
	live := make([]bool, len(boxes))
	for i, b := range boxes {
		live[i] = b.sb != nil
	}
	d.mu.Unlock()
	for i, b := range boxes {
		if live[i] {
			b.inspect(&out.Sandboxes[i])
		}
	}
	slices.SortFunc(out.Sandboxes, func(a, b api.SandboxState) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// inspect asks the mechanism, which may read files.
func (b *box) inspect(s *api.SandboxState) {
	info := b.sb.Info()
	s.Origin, s.MemBytes, s.Detail = info.Origin, info.MemBytes, info.Detail
	s.InitMS = float64(info.Init) / float64(time.Millisecond)
	b.sleep.mu.Lock()
	s.Frozen = b.sleep.frozen
	b.sleep.mu.Unlock()
}

// Locked calls f while nothing steps the engine, so that f can read it. f
// must be short and call nothing of the dispatcher.
func (d *Dispatcher) Locked(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}
