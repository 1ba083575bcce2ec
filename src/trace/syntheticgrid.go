package trace

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Grid returns a small workload of a family that differs in two things only: the
// mean requests of a burst (1: none, all requests are uniform in time) and the median
// cold start. 40 functions send 40 requests a second; bursts spread over 400 ms; an
// execution takes 190 ms and 448 MB in the mean. All else lies in the middle of the
// ranges that Draw takes from. It was fitted to nothing.
func Grid(burst float64, cold time.Duration) (Synthetic, error) {
	s, err := Neutral("azure")
	if err != nil {
		return s, err
	}
	s.Functions, s.Requests = 40, 72_000
	s.Burst, s.BurstWidth, s.Cold, s.Even = burst, 400*time.Millisecond, cold, 0
	if burst <= 1 {
		s.Even = 1
	}
	return s, s.check()
}

// GridName is the name of a workload of Grid: grid-BURST-COLD, the latter in ms.
func GridName(burst float64, cold time.Duration) string {
	return fmt.Sprintf("grid-%v-%d", burst, cold.Milliseconds())
}

// gridded reads such a name.
func gridded(name string) (Source, bool, error) {
	rest, ok := strings.CutPrefix(name, "grid-")
	burst, cold, both := strings.Cut(rest, "-")
	if !ok || !both {
		return Source{}, false, nil
	}
	b, err := strconv.ParseFloat(burst, 64)
	ms, wrong := strconv.Atoi(cold)
	if err != nil || wrong != nil || !(b >= 1 && b <= 1000) || ms < 1 || ms > 1_000_000 { // NaN as well
		return Source{}, false, nil
	}
	s, err := Grid(b, time.Duration(ms)*time.Millisecond)
	return Source{Name: name, Note: name + " is synthetic and was fitted to nothing", Synthetic: &s}, true, err
}
