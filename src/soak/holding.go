package soak

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/procfs"

	"github.com/open-lambda/open-lambda/src/pause"
)

// Left is what a worker has on its machine outside of its process.
type Left struct {
	Cgroups   int `json:"cgroups"`
	Processes int `json:"processes"`
	Mounts    int `json:"mounts"`
	Links     int `json:"links"` // network interfaces
	Files     int `json:"files"` // of sandboxes and uploads
}

// Holding is what a running worker holds when no lambda is there.
type Holding struct {
	Descriptors int `json:"descriptors"`
	Goroutines  int `json:"goroutines"`
	MemoryMB    int `json:"memory_mb"` // resident
	Left
}

// slack is by how much a worker may hold more after a load than before it.
// Pools are not always filled to the same degree when they are looked at.
func slack() Holding {
	return Holding{Descriptors: 16, Goroutines: 4, MemoryMB: 64, Left: Left{Processes: 1}}
}

// exceeds names what h has more of than before, beyond the slack.
func (h Holding) exceeds(before Holding) []string {
	var more []string
	slack := slack()
	for _, x := range []struct {
		name              string
		now, then, beyond int
	}{
		{"descriptors", h.Descriptors, before.Descriptors, slack.Descriptors},
		{"goroutines", h.Goroutines, before.Goroutines, slack.Goroutines},
		{"MB of memory", h.MemoryMB, before.MemoryMB, slack.MemoryMB},
		{"control groups", h.Cgroups, before.Cgroups, slack.Cgroups},
		{"processes", h.Processes, before.Processes, slack.Processes},
		{"mounts", h.Mounts, before.Mounts, slack.Mounts},
		{"network links", h.Links, before.Links, slack.Links},
		{"files", h.Files, before.Files, slack.Files},
	} {
		if x.now > x.then+x.beyond {
			more = append(more, fmt.Sprintf("%d %s, before %d", x.now, x.name, x.then))
		}
	}
	return more
}

// holding waits until the worker rests, and tells what it holds.
func (r *runner) holding(ctx context.Context) (Holding, error) {
	var last Holding
	same := 0
	for end := time.Now().Add(settleLimit); ; {
		now, err := r.hold(ctx)
		if err != nil {
			return now, err
		}
		if same++; now.Left != last.Left || now.Descriptors != last.Descriptors {
			same = 0
		}
		last = now
		if same == restReadings || time.Now().After(end) {
			return now, nil
		}
		if !pause.For(ctx, 200*time.Millisecond) {
			return now, ctx.Err()
		}
	}
}

// restReadings is how often in a row a worker must hold the same to be at rest.
const restReadings = 5

func (r *runner) hold(ctx context.Context) (h Holding, err error) {
	r.client.CloseIdleConnections()
	if h.Left, err = r.node.Left(ctx); err != nil {
		return h, err
	}
	c, err := r.counters(ctx)
	if err != nil {
		return h, err
	}
	h.Goroutines = int(c.sum("go_goroutines"))
	p, err := procfs.NewProc(r.node.PID())
	if err != nil {
		return h, fmt.Errorf("find worker: %w", err)
	}
	if h.Descriptors, err = p.FileDescriptorsLen(); err != nil {
		return h, fmt.Errorf("count descriptors: %w", err)
	}
	s, err := p.NewStatus()
	if err != nil {
		return h, fmt.Errorf("read memory: %w", err)
	}
	h.MemoryMB = int(s.VmRSS >> 20)
	return h, nil
}
