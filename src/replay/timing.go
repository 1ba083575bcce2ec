package replay

import (
	"strconv"
	"strings"
	"time"
)

// mostTiming bounds a metric, ms: a year. Infinite ones would overflow.
const mostTiming = 366 * 24 * 3600 * 1000

// timings reads a Server-Timing header: the duration of each named metric.
// Entries without a readable duration, or with one beyond mostTiming, are left out.
func timings(header string) map[string]time.Duration {
	found := make(map[string]time.Duration)
	for entry := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(entry, ";")
		for param := range strings.SplitSeq(params, ";") {
			key, value, _ := strings.Cut(param, "=")
			if !strings.EqualFold(strings.TrimSpace(key), "dur") {
				continue
			}
			ms, err := strconv.ParseFloat(strings.Trim(strings.TrimSpace(value), `"`), 64)
			if err == nil && ms >= 0 && ms <= mostTiming {
				found[strings.TrimSpace(name)] = time.Duration(ms * float64(time.Millisecond))
			}
		}
	}
	return found
}
