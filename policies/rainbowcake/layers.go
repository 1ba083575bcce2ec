package rainbowcake

import (
	"errors"
	"math"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// Forms of the layers below the user layer, which is policies.FormFull.
const (
	Bare     = policies.FormLayer
	Language = policies.FormLayer + 1
)

// Config is what can be set. Shares are between 0 and 1.
type Config struct {
	Quantile  float64       // q
	Alpha     float64       // weight of saved time against held memory
	Fallback  time.Duration // TTL without history
	Min, Max  time.Duration // bounds of a TTL
	BareShare float64       // share of bare in cold start time and memory
	LangShare float64       // share of the language stage
}

// Default returns the paper's configuration with our split of the stages.
func Default() Config {
	return Config{
		Quantile: 0.8, Alpha: 0.996, Fallback: 600 * time.Second,
		Min: 60 * time.Second, Max: 600 * time.Second, BareShare: 0.2, LangShare: 0.4,
	}
}

// Validate says which field no policy can run with.
func (c Config) Validate() error {
	switch {
	case c.Quantile <= 0 || c.Quantile >= 1:
		return errors.New("make rainbowcake: q must be between 0 and 1")
	case c.Alpha <= 0 || c.Alpha >= 1:
		return errors.New("make rainbowcake: alpha must be between 0 and 1")
	case c.Min <= 0 || c.Max < c.Min || c.Fallback <= 0:
		return errors.New("make rainbowcake: need 0 < min <= max, and a fallback longer than 0")
	case c.BareShare < 0 || c.LangShare < 0 || c.BareShare+c.LangShare > 1:
		return errors.New("make rainbowcake: the shares of bare and language must not be negative nor exceed 1")
	}
	return nil
}

// share is the part of time and memory that a form has behind it.
func (c *Config) share(form policies.Form) float64 {
	switch form {
	case Bare:
		return c.BareShare
	case Language:
		return c.BareShare + c.LangShare
	case policies.FormFull, policies.FormShrunk, policies.FormGone:
	}
	return 1
}

// quantile is the q-quantile of an exponential distribution.
func (c *Config) quantile(mean time.Duration) time.Duration {
	return time.Duration(-math.Log(1-c.Quantile) * float64(mean))
}

// ttl is the time to live of an idle layer that saves a start the given time
// and holds mb MB; mean is the mean time between arrivals that could use it.
func (c *Config) ttl(mean time.Duration, known bool, saves time.Duration, mb int64) time.Duration {
	if !known {
		return c.Fallback
	}
	beta := c.Alpha * saves.Seconds() / ((1 - c.Alpha) * float64(max(1, mb)))
	limit := time.Duration(min(beta, c.Max.Seconds()) * float64(time.Second))
	return min(max(min(c.quantile(mean), limit), c.Min), c.Max)
}

// HeldMB is the memory that a layer of a sandbox of mb MB holds, at least 1.
func (r *Policy) HeldMB(mb int64, form policies.Form) int64 {
	return max(1, int64(math.Round(r.cfg.share(form)*float64(mb))))
}

// ColdFrom is what a start from the layer takes: the missing stages.
func (r *Policy) ColdFrom(_ int64, cold time.Duration, form policies.Form) time.Duration {
	return time.Duration((1 - r.cfg.share(form)) * float64(cold))
}

// arrivals remembers the last arrivals of something.
type arrivals struct {
	at [samples]policies.Time
	n  int
}

// samples is the number of arrivals that the mean is taken over.
const samples = 6

func (a *arrivals) add(now policies.Time) {
	a.at[a.n%samples] = now
	a.n++
}

// mean is the mean time between the arrivals remembered, false below two.
func (a *arrivals) mean() (time.Duration, bool) {
	k := min(a.n, samples)
	if k < 2 {
		return 0, false
	}
	first, last := a.at[(a.n-k)%samples], a.at[(a.n-1)%samples]
	return last.Sub(first) / time.Duration(k-1), true
}
