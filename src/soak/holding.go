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
	Processes int `json:"processes"` // in its control groups
	Orphans   int `json:"orphans"`   // of an earlier life, wherever they are
	Mounts    int `json:"mounts"`
	Links     int `json:"links"`   // network interfaces
	Tables    int `json:"tables"`  // of the firewall
	Files     int `json:"files"`   // of lambdas, sandboxes and uploads
	DiskKB    int `json:"disk_kb"` // that these take
}

// Holding is what a running worker holds when no lambda is there.
type Holding struct {
	Descriptors int `json:"descriptors"`
	Goroutines  int `json:"goroutines"`
	Threads     int `json:"threads"`
	MemoryMB    int `json:"memory_mb"` // resident
	// Of the processes that it keeps for sandboxes: zygotes, parked children,
	// and helpers.
	Kept            int `json:"kept"`
	KeptDescriptors int `json:"kept_descriptors"`
	KeptMemoryMB    int `json:"kept_memory_mb"` // resident; what they share counts for each
	Dead            int `json:"dead"`           // children that nobody has reaped
	Left
}

// slack is by how much a worker may hold more after a load than before it.
// Pools are not always filled to the same degree when they are looked at.
func slack() Holding {
	return Holding{
		Descriptors: 16, Goroutines: 4, Threads: 12, MemoryMB: 64,
		Kept: 1, KeptDescriptors: 16, KeptMemoryMB: 64, Left: Left{Processes: 1},
	}
}

// figure is one number of a Holding.
type figure struct {
	name string
	of   func(*Holding) int
}

// figures are all that is compared.
func figures() []figure {
	return []figure{
		{"descriptors", func(h *Holding) int { return h.Descriptors }},
		{"goroutines", func(h *Holding) int { return h.Goroutines }},
		{"threads", func(h *Holding) int { return h.Threads }},
		{"MB of memory", func(h *Holding) int { return h.MemoryMB }},
		{"kept processes", func(h *Holding) int { return h.Kept }},
		{"their descriptors", func(h *Holding) int { return h.KeptDescriptors }},
		{"their MB of memory", func(h *Holding) int { return h.KeptMemoryMB }},
		{"dead children", func(h *Holding) int { return h.Dead }},
		{"control groups", func(h *Holding) int { return h.Cgroups }},
		{"processes", func(h *Holding) int { return h.Processes }},
		{"orphans", func(h *Holding) int { return h.Orphans }},
		{"mounts", func(h *Holding) int { return h.Mounts }},
		{"network links", func(h *Holding) int { return h.Links }},
		{"firewall tables", func(h *Holding) int { return h.Tables }},
		{"files", func(h *Holding) int { return h.Files }},
		{"KB on disk", func(h *Holding) int { return h.DiskKB }},
	}
}

// exceeds names what h has more of than before, beyond the slack.
func (h Holding) exceeds(before Holding) []string {
	var more []string
	slack := slack()
	for _, f := range figures() {
		if now, then := f.of(&h), f.of(&before); now > then+f.of(&slack) {
			more = append(more, fmt.Sprintf("%d %s, before %d", now, f.name, then))
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
		if same++; now.Left != last.Left || now.Descriptors != last.Descriptors || now.Kept != last.Kept || now.Dead != last.Dead {
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
	if err := h.countWorker(r.node.PID()); err != nil {
		return h, err
	}
	return h, h.countKept(r.node.PID())
}

// countWorker counts what the process itself has.
func (h *Holding) countWorker(pid int) (err error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return fmt.Errorf("find worker: %w", err)
	}
	if h.Descriptors, err = p.FileDescriptorsLen(); err != nil {
		return fmt.Errorf("count descriptors: %w", err)
	}
	if h.Threads, err = countThreads(pid); err != nil {
		return err
	}
	s, err := p.NewStatus()
	if err != nil {
		return fmt.Errorf("read memory: %w", err)
	}
	h.MemoryMB = int(s.VmRSS >> 20)
	return nil
}

// countKept counts the worker's children, and theirs, whatever control group
// they are in. One that ends meanwhile counts no more.
func (h *Holding) countKept(pid int) error {
	all, err := descendants(pid)
	if err != nil {
		return err
	}
	var bytes uint64
	for _, pid := range all {
		p, err := procfs.NewProc(pid)
		if err != nil {
			continue
		}
		stat, err := p.Stat()
		if err == nil && stat.State == "Z" {
			h.Dead++
			continue
		}
		open, err := p.FileDescriptorsLen()
		if err != nil {
			continue
		}
		h.Kept++
		h.KeptDescriptors += open
		if s, err := p.NewStatus(); err == nil {
			bytes += s.VmRSS
		}
	}
	h.KeptMemoryMB = int(bytes >> 20)
	return nil
}
