package replay

import (
	"strconv"
	"strings"
	"time"
)

// timings reads a Server-Timing header: the duration of each named metric.
// Entries without a readable duration are left out.
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
			if err == nil && ms >= 0 {
				found[strings.TrimSpace(name)] = time.Duration(ms * float64(time.Millisecond))
			}
		}
	}
	return found
}
