package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// period over which a CPU quota is counted, microseconds: the kernel's default.
const period = 100_000

// Limits of a group. Zero fields mean no limit.
type Limits struct {
	MemMB      int64 // hard limit; swap is off
	CPUPercent int   // 100 is one core
	Shares     int   // relative weight when cores are short, 100 is the default
	Procs      int   // processes and threads
}

// Usage is what a group's present user has taken.
type Usage struct {
	MemBytes int64 // charged now
	Pids     int64 // processes and threads now
	OOMKills int64 // processes killed because memory ran out
	CPU      time.Duration
}

// SetLimits makes the limits hold. Values that hold already are not written.
func (g *Group) SetLimits(l Limits) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.limits
	steps := []struct {
		changed bool
		set     func(Limits) error
	}{
		{old.MemMB != l.MemMB, g.setMemory},
		{old.Procs != l.Procs, g.setProcs},
		{old.CPUPercent != l.CPUPercent, g.setQuota},
		{old.Shares != l.Shares, g.setShares},
	}
	for _, s := range steps {
		if !s.changed {
			continue
		}
		if err := s.set(l); err != nil {
			return fmt.Errorf("set cgroup limits: %w", err)
		}
	}
	g.limits = l
	return nil
}

func (g *Group) setMemory(l Limits) error {
	if g.v2[memory] {
		return g.setMemoryV2(l)
	}
	dir, bytes := g.v1[memory], l.MemMB<<20
	if bytes == 0 {
		bytes = -1
	}
	// memsw must never be below the limit, so it is opened, then closed again.
	if err := writeOptional(dir, "memory.memsw.limit_in_bytes", "-1"); err != nil {
		return err
	}
	if err := writeFile(dir, "memory.limit_in_bytes", strconv.FormatInt(bytes, 10)); err != nil {
		return err
	}
	if err := writeOptional(dir, "memory.swappiness", "0"); err != nil {
		return err
	}
	return writeOptional(dir, "memory.memsw.limit_in_bytes", strconv.FormatInt(bytes, 10))
}

func (g *Group) setMemoryV2(l Limits) error {
	value := "max"
	if l.MemMB > 0 {
		value = strconv.FormatInt(l.MemMB<<20, 10)
	}
	if err := writeFile(g.unified, "memory.max", value); err != nil {
		return err
	}
	return writeOptional(g.unified, "memory.swap.max", "0")
}

func (g *Group) setProcs(l Limits) error {
	value := "max"
	if l.Procs > 0 {
		value = strconv.Itoa(l.Procs)
	}
	return writeFile(g.home(pids), "pids.max", value)
}

func (g *Group) setQuota(l Limits) error {
	quota := int64(l.CPUPercent) * period / 100
	if g.v2[cpu] {
		value := "max"
		if quota > 0 {
			value = strconv.FormatInt(quota, 10)
		}
		return writeFile(g.unified, "cpu.max", value+" "+strconv.Itoa(period))
	}
	if quota == 0 {
		quota = -1
	}
	return writeFile(g.v1[cpu], "cpu.cfs_quota_us", strconv.FormatInt(quota, 10))
}

func (g *Group) setShares(l Limits) error {
	shares := l.Shares
	if shares == 0 {
		shares = 100
	}
	if g.v2[cpu] {
		return writeFile(g.unified, "cpu.weight", strconv.Itoa(min(shares, 10_000)))
	}
	return writeFile(g.v1[cpu], "cpu.shares", strconv.Itoa(max(2, shares*1024/100)))
}

// home is the directory that holds a controller's files.
func (g *Group) home(controller string) string {
	if g.v2[controller] {
		return g.unified
	}
	return g.v1[controller]
}

// Memory reads what is charged to the group now, bytes.
func (g *Group) Memory() (int64, error) {
	mem, err := readInt(g.home(memory), g.memoryFile())
	if err != nil {
		return 0, fmt.Errorf("read cgroup memory: %w", err)
	}
	return mem, nil
}

// Usage reads the counters.
func (g *Group) Usage() (Usage, error) {
	mem, err := g.Memory()
	if err != nil {
		return Usage{}, err
	}
	n, err := readInt(g.home(pids), "pids.current")
	if err != nil {
		return Usage{}, fmt.Errorf("read cgroup processes: %w", err)
	}
	kills, err := g.OOMKills()
	if err != nil {
		return Usage{}, err
	}
	used, err := g.cpuMicros()
	if err != nil {
		return Usage{}, fmt.Errorf("read cgroup cpu: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return Usage{MemBytes: mem, Pids: n, OOMKills: kills, CPU: time.Duration(used-g.cpuStart) * time.Microsecond}, nil
}

func (g *Group) memoryFile() string {
	if g.v2[memory] {
		return "memory.current"
	}
	return "memory.usage_in_bytes"
}

// cpuMicros reads the v2 tree's basic accounting, which needs no controller.
func (g *Group) cpuMicros() (int64, error) { return readKey(g.unified, "cpu.stat", "usage_usec") }

// OOMKills counts the processes that the kernel killed because the group's
// memory ran out, since the group was taken.
func (g *Group) OOMKills() (int64, error) {
	n, err := g.oomTotal()
	if err != nil {
		return 0, fmt.Errorf("read cgroup oom kills: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return n - g.oomStart, nil
}

func (g *Group) oomTotal() (int64, error) {
	if g.v2[memory] {
		return readKey(g.unified, "memory.events", "oom_kill")
	}
	return readKey(g.v1[memory], "memory.oom_control", "oom_kill")
}

// writeOptional writes a control file that some kernels lack.
func writeOptional(dir, name, value string) error {
	if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
		return nil
	}
	return writeFile(dir, name, value)
}
