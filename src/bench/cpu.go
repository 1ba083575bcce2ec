package bench

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"
)

// CPU is the CPU time that a process has used, its own and the kernel's for it,
// to 10 ms.
func CPU(pid int) (time.Duration, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, fmt.Errorf("measure process %d: %w", pid, err)
	}
	stat, err := p.Stat()
	if err != nil {
		return 0, fmt.Errorf("measure process %d: %w", pid, err)
	}
	return time.Duration(stat.CPUTime() * float64(time.Second)), nil
}
