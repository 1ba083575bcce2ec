package bench

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Usage is how busy the machine was for a while, with everything on it.
type Usage struct {
	LoadMean float64 `json:"load_mean"` // of the mean number of runnable processes in the last minute
	LoadMost float64 `json:"load_most"`
	CPUShare float64 `json:"cpu_share"` // of all cores together, 0 to 1; -1 if it cannot be read
}

// WatchUsage looks at the machine once a second. The function that it returns
// ends that and says what was seen.
func WatchUsage(ctx context.Context) func() Usage {
	ctx, cancel := context.WithCancel(ctx)
	w := &usageWatch{}
	w.busy, w.total = cpuTimes()
	var wg sync.WaitGroup
	wg.Go(func() { w.run(ctx) })
	return func() Usage {
		cancel()
		wg.Wait()
		return w.usage()
	}
}

type usageWatch struct {
	busy, total float64 // seconds of processor time at the beginning
	sum, most   float64
	n           int
}

func (w *usageWatch) run(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		load := loadNow()
		w.sum, w.most, w.n = w.sum+load, max(w.most, load), w.n+1
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (w *usageWatch) usage() Usage {
	u := Usage{LoadMean: w.sum / float64(max(w.n, 1)), LoadMost: w.most, CPUShare: -1}
	busy, total := cpuTimes()
	if total > w.total {
		u.CPUShare = math.Round(1000*(busy-w.busy)/(total-w.total)) / 1000
	}
	return u
}

// loadNow is the machine's load, 0 if it cannot be read.
func loadNow() float64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return float64(info.Loads[0]) / (1 << 16)
}

// cpuTimes is processor time that was used, and that there was, seconds.
func cpuTimes() (busy, total float64) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, 0
	}
	stat, err := fs.Stat()
	if err != nil {
		return 0, 0
	}
	c := stat.CPUTotal
	busy = c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ
	return busy, busy + c.Idle + c.Iowait + c.Steal
}
