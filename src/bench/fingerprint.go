package bench

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Fingerprint says on what a figure was measured.
type Fingerprint struct {
	CPU      string  `json:"cpu"`
	Cores    int     `json:"cores"`
	MemoryMB uint64  `json:"memory_mb"`
	Kernel   string  `json:"kernel"`
	Go       string  `json:"go"`
	Load     float64 `json:"load"`    // mean number of runnable processes in the last minute
	SpinMS   float64 `json:"spin_ms"` // a fixed piece of arithmetic: how fast one core is now
}

// TakeFingerprint examines the machine. What cannot be read stays empty.
func TakeFingerprint() Fingerprint {
	f := Fingerprint{CPU: cpuModel(), Cores: runtime.NumCPU(), Go: runtime.Version(), SpinMS: spin()}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		f.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		f.MemoryMB = info.Totalram * uint64(info.Unit) >> 20
	}
	f.Load = loadNow()
	return f
}

// String is the fingerprint on one line.
func (f Fingerprint) String() string {
	return fmt.Sprintf("%s, %d cores, %d MB, Linux %s, %s, load %.1f, spin %.0f ms",
		f.CPU, f.Cores, f.MemoryMB, f.Kernel, f.Go, f.Load, f.SpinMS)
}

func cpuModel() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// spin times a hundred million steps of a xorshift generator.
func spin() float64 {
	begin := time.Now()
	x := uint32(1)
	for range 100_000_000 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	elapsed := time.Since(begin)
	runtime.KeepAlive(x)
	return float64(elapsed) / float64(time.Millisecond)
}
