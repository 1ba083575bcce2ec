package parity

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/open-lambda/open-lambda/src/trace"
)

const (
	minutes   = 3
	calls     = 20_000
	coldPerMB = 3 * time.Millisecond
)

// Input returns the exact input, in order of time, ties in order of S1's rows.
func Input() ([]trace.Profile, []trace.Invocation, error) {
	rows, err := trace.Busiest()
	if err != nil {
		return nil, nil, err
	}
	profiles := make([]trace.Profile, len(rows))
	var all []trace.Invocation
	for i, f := range rows {
		mb := int64(math.Ceil(f.MemMB))
		profiles[i] = trace.Profile{Name: f.ID, MB: mb, Cold: time.Duration(mb) * coldPerMB}
		exec := max(time.Millisecond, f.AvgExec)
		for minute, n := range f.PerMinute[:minutes] {
			for k := range n {
				at := time.Duration(minute)*time.Minute + time.Duration(k)*time.Minute/time.Duration(n)
				all = append(all, trace.Invocation{At: at, Function: i, Exec: exec})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b trace.Invocation) int { return int(a.At - b.At) })
	return profiles, all[:calls], nil
}

// Lines writes the input as t_ms,function,exec_ms,mem_mb,cold_ms, times with 3
// decimals rounded down, for its checksum.
func Lines(profiles []trace.Profile, all []trace.Invocation) []byte {
	var out []byte
	for _, c := range all {
		p := profiles[c.Function]
		us := c.At.Microseconds()
		out = strconv.AppendInt(out, us/1000, 10)
		out = append(out, '.')
		out = append(out, strconv.Itoa(int(1000 + us%1000))[1:]...)
		out = append(out, ',')
		out = append(out, p.Name...)
		for _, v := range []int64{c.Exec.Milliseconds(), p.MB, p.Cold.Milliseconds()} {
			out = append(out, ',')
			out = strconv.AppendInt(out, v, 10)
		}
		out = append(out, '\n')
	}
	return out
}
