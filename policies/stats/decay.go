package stats

import (
	"math"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// Decay is a count whose entries lose weight with age: an entry of age a
// weighs e^(-a/tau). It is kept as the logarithm of the forward-decayed sum of
// e^(t/tau) (Cormode et al., ICDE 2009): the order of two counts that share
// tau does not change as time passes, so a heap keyed by Log stays valid, and
// the logarithm does not overflow. The zero value is empty.
type Decay struct {
	log float64
	any bool
}

// Add counts one more at the given time.
func (d *Decay) Add(now policies.Time, tau time.Duration) {
	x := float64(now) / float64(tau)
	if !d.any {
		d.log, d.any = x, true
		return
	}
	d.log = LogAdd(d.log, x)
}

// Log returns the logarithm of the forward-decayed sum, -Inf if it is empty.
// Only its order and its differences mean something.
func (d Decay) Log() float64 {
	if !d.any {
		return math.Inf(-1)
	}
	return d.log
}

// Value returns the decayed count at the given time.
func (d Decay) Value(now policies.Time, tau time.Duration) float64 {
	if !d.any {
		return 0
	}
	return math.Exp(d.log - float64(now)/float64(tau))
}

// LogAdd returns log(e^a + e^b) without overflow. -Inf is the logarithm of 0.
func LogAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// LogSub returns log(e^a - e^b), -Inf unless a is larger by more than rounding.
func LogSub(a, b float64) float64 {
	if !(a-b > 1e-9) { // two -Inf as well
		return math.Inf(-1)
	}
	return a + math.Log1p(-math.Exp(b-a))
}
