package validate

import (
	"time"

	"github.com/open-lambda/open-lambda/src/replay"
)

// Case is one workload under one policy and placer, replayed and simulated.
type Case struct {
	Policy string `json:"policy"`
	Placer string `json:"placer,omitempty"` // "" on a single worker
	// Incomplete: the replay ended early. What was sent is compared with a
	// simulation of everything.
	Incomplete bool              `json:"incomplete,omitempty"`
	Summary    replay.Summary    `json:"summary"`
	Spread     replay.Spread     `json:"spread"`
	Drift      replay.Drift      `json:"drift"`
	Predicted  replay.Prediction `json:"predicted"`
	Causes     Causes            `json:"causes"`
}

// Tolerance is how far reality may be from the simulation.
type Tolerance struct {
	Share   float64       `json:"share"`      // of requests by kind of start, and overhead ratio: difference, 0 to 1
	Time    time.Duration `json:"time_ns"`    // quantiles of the overhead: difference,
	Part    float64       `json:"part"`       // or this part of what was simulated, if that is more
	Balance float64       `json:"balance"`    // max/mean of requests per worker: difference
	Errors  int           `json:"errors"`     // requests that may fail
	Order   float64       `json:"difference"` // of two cold ratios that is not worth ordering, 0 to 1
}

// DefaultTolerance is the one that results are judged by. The simulator knows
// neither HTTP nor other processes: a request there waits for a sandbox only,
// and a start takes what it took alone on this machine. The measured overhead
// has the network in it, both ways.
func DefaultTolerance() Tolerance {
	return Tolerance{Share: 0.03, Time: 20 * time.Millisecond, Part: 0.25, Balance: 0.15, Order: 0.002}
}

// Figure is one figure on both sides.
type Figure struct {
	Name      string  `json:"name"`
	Unit      string  `json:"unit"` // "%", "ms" or ""
	Measured  float64 `json:"measured"`
	Simulated float64 `json:"simulated"`
	Allowed   float64 `json:"allowed"` // difference
	OK        bool    `json:"ok"`
}

// Compare lists the figures of a case.
func Compare(c *Case, t Tolerance) []Figure {
	share := func(name string, n, simulated int) Figure {
		return figure(name, "%", 100*ratio(n, c.Summary.Requests), 100*ratio(simulated, c.Predicted.Requests), 100*t.Share)
	}
	wait := func(name string, have, simulated time.Duration) Figure {
		allowed := max(float64(t.Time), t.Part*float64(simulated))
		return figure(name, "ms", inMS(have), inMS(simulated), allowed/float64(time.Millisecond))
	}
	u, p := c.Summary, c.Predicted
	all := []Figure{
		share("cold starts", u.Cold, p.Cold),
		share("delayed warm starts", u.Delayed, p.Delayed),
		share("warm starts", u.Warm, p.Warm),
		figure("overhead ratio", "%", 100*u.OverheadRatio, 100*p.OverheadRatio, 100*t.Share),
		wait("overhead mean", u.Overhead.Mean, p.Overhead.Mean),
		wait("overhead p50", u.Overhead.P50, p.Overhead.P50),
		wait("overhead p99", u.Overhead.P99, p.Overhead.P99),
		figure("errors", "", float64(u.Errors), float64(p.Rejected), float64(t.Errors)),
	}
	if c.Placer != "" {
		all = append(all, figure("balance", "", c.Spread.MaxOfMean, replay.MaxOfMean(p.PerNode), t.Balance))
	}
	return all
}

func figure(name, unit string, have, simulated, allowed float64) Figure {
	difference := have - simulated
	return Figure{name, unit, have, simulated, allowed, difference <= allowed && -difference <= allowed}
}

func ratio(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// ColdRatio is the share of cold starts on both sides.
func (c *Case) ColdRatio() (measured, simulated float64) {
	return ratio(c.Summary.Cold, c.Summary.Requests), ratio(c.Predicted.Cold, c.Predicted.Requests)
}
