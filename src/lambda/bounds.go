package lambda

import (
	"fmt"

	"github.com/open-lambda/open-lambda/src/config"
)

// BoundError is a limit that a lambda asks for and the worker does not give.
type BoundError struct {
	Key  string // in limits of ol.yaml, and in limits_max of the worker
	Asks int
	Most int // that the worker gives
}

// Error says what is asked for, what may be, and what to type.
func (e *BoundError) Error() string {
	return fmt.Sprintf("%s: limits.%s is %d, and lambdas of this worker may have at most %d: lower it, or start the worker with -o limits_max.%s=%d",
		ConfigFile, e.Key, e.Asks, e.Most, e.Key, e.Asks)
}

// CheckBounds returns a *BoundError for the first limit that is above what the
// worker gives to any lambda.
func (c *Config) CheckBounds(w *config.Config) error {
	asks, most, all := c.Limits, w.LimitsMax, w.Limits
	for _, b := range []struct {
		key             string
		asks, most, all int
	}{
		{"mem_mb", asks.MemMB, most.MemMB, all.MemMB},
		{"procs", asks.Procs, most.Procs, all.Procs},
		{"cpu_percent", asks.CPUPercent, most.CPUPercent, all.CPUPercent},
		{"runtime_sec", asks.RuntimeSec, most.RuntimeSec, all.RuntimeSec},
	} {
		if most := max(b.most, b.all); b.most > 0 && b.asks > most {
			return &BoundError{Key: b.key, Asks: b.asks, Most: most}
		}
	}
	return nil
}
