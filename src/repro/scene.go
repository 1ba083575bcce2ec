package repro

import (
	"fmt"
	"math"

	"github.com/open-lambda/open-lambda/src/sim/study"
)

// Scene is what figures are reproduced on.
type Scene struct {
	Azure   string   `json:"azure"`   // workload that stands for the paper's Azure sample
	FC      string   `json:"fc"`      // for its Alibaba FC sample
	Minutes int      `json:"minutes"` // of each workload; 0 is all
	Seeds   []uint64 `json:"seeds"`   // at least one
	// OneTrace means that one of the workloads is a trace that no seed changes: there
	// is one seed and no interval.
	OneTrace bool `json:"one_trace,omitempty"`
}

// FullScene is half an hour with five seeds.
func FullScene() Scene {
	return Scene{Azure: "azure-like", FC: "fc-like-faascache", Seeds: Seeds(5)}
}

// QuickScene is ten minutes with three seeds: rates, functions and memory are
// those of the full scene.
func QuickScene() Scene {
	return Scene{Azure: "azure-like", FC: "fc-like-faascache", Minutes: 10, Seeds: Seeds(3)}
}

// Seeds are 1 to n.
func Seeds(n int) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = uint64(i + 1)
	}
	return all
}

// String says what every output must say.
func (s Scene) String() string {
	span := "all minutes"
	if s.Minutes > 0 {
		span = fmt.Sprintf("the first %d minutes", s.Minutes)
	}
	return fmt.Sprintf("Azure: %s, FC: %s; %s, %s; cache warmed by one replay", s.Azure, s.FC, span, s.runs())
}

// runs says how often everything was simulated.
func (s Scene) runs() string {
	if s.OneTrace {
		return "one trace: no interval"
	}
	return fmt.Sprintf("%d seed(s)", len(s.Seeds))
}

// Name is quick or full, with what is otherwise than in these.
func (s Scene) Name() string {
	like, name := FullScene(), "full"
	switch quick := QuickScene(); {
	case s.Minutes == quick.Minutes:
		like, name = quick, "quick"
	case s.Minutes > 0:
		name = fmt.Sprintf("first %d minutes", s.Minutes)
	}
	if s.Azure != like.Azure {
		name += ", Azure: " + s.Azure
	}
	if s.FC != like.FC {
		name += ", FC: " + s.FC
	}
	if s.OneTrace || len(s.Seeds) != len(like.Seeds) {
		name += ", " + s.runs()
	}
	return name
}

// at is a point without a seed, at a cache size in GB.
func (s Scene) at(workload, policy string, gb float64) Point {
	return Point{
		Workload: workload, Minutes: s.Minutes, IAT: 1, Exec: 1, Policy: policy, PoolMB: int64(math.Round(gb * mbPerGB)), Slots: 1,
	}
}

// Data is what figures are drawn from.
type Data struct {
	Scene
	Cells map[Point]*Measured // by point with seed
	Build string              // of this program
	memo  memo
	// brief cuts traces that are analysed without simulation, for tests.
	brief int
}

// get returns the result of a point with a seed. A figure asks only for what
// its Points named.
func (d *Data) get(p Point, seed uint64) *Measured {
	p.Seed = seed
	m := d.Cells[p]
	if m == nil {
		panic(fmt.Sprintf("repro: %+v was not measured: a figure's Points lack it", p))
	}
	return m
}

// over returns the interval of a value over the seeds.
func (d *Data) over(p Point, value func(*Measured) float64) study.Interval {
	return d.interval(func(seed uint64) float64 { return value(d.get(p, seed)) })
}

// interval returns that of a value which is computed from each seed.
func (d *Data) interval(value func(seed uint64) float64) study.Interval {
	samples := make([]float64, len(d.Seeds))
	for i, seed := range d.Seeds {
		samples[i] = value(seed)
	}
	return study.NewInterval(samples)
}

// curve returns the mean curve over the seeds.
func (d *Data) curve(p Point, of func(*Measured) Curve) Curve {
	all := make([]Curve, len(d.Seeds))
	for i, seed := range d.Seeds {
		all[i] = of(d.get(p, seed))
	}
	return meanCurve(all)
}

// Values of a result, in percent or ms.
func overhead(m *Measured) float64 { return 100 * m.Result.Overhead }
func cold(m *Measured) float64     { return 100 * m.Result.ColdRatio }
func delayed(m *Measured) float64  { return 100 * m.Result.DelayedRatio }
func warm(m *Measured) float64     { return 100 * m.Result.WarmRatio }
func waits(m *Measured) Curve      { return m.Wait }
func waitMean(m *Measured) float64 { return m.Result.Wait.Mean }
