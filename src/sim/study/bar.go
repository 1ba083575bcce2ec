package study

import (
	"slices"

	"github.com/open-lambda/open-lambda/src/sim"
)

// Sample is what the bar asks of a run, in percent.
type Sample struct {
	Overhead float64 `json:"overhead_pct"`
	Cold     float64 `json:"cold_pct"`
}

// NewSample takes it from a result.
func NewSample(r *sim.Result) Sample { return Sample{100 * r.Overhead, 100 * r.ColdRatio} }

// Field is a workload with a pool size, under several policies.
type Field struct {
	Workload string
	PoolMB   int64
	Runs     map[string][]Sample // by policy; the i-th of all are of one seed
}

// Demand is something that the bar asks of a candidate in a field.
type Demand struct {
	Than   string `json:"than"` // policy
	Figure string `json:"figure"`
	Better bool   `json:"better"` // better is asked, not just no worse
	// Difference is the other policy's figure minus the candidate's, in
	// percentage points, seeds compared in pairs.
	Difference Interval `json:"difference"`
	Met        bool     `json:"met"`
}

// Standing is a candidate in a field. The best clairvoyant is chosen for
// each figure on its own, which is the stricter reading.
type Standing struct {
	Workload    string            `json:"workload"`
	PoolMB      int64             `json:"pool_mb"`
	Means       map[string]Sample `json:"means"` // by policy
	Best        Sample            `json:"best_clairvoyant"`
	BeatOffline []string          `json:"online_below_offline"` // in overhead
	Demands     []Demand          `json:"demands"`
	Met         bool              `json:"met"`
}

// Bar is what a candidate has to reach: no worse than CIDRE in either form in
// overhead and cold starts nor than LRU in overhead, beyond the 95 % interval; better than
// cidre in both where its overhead exceeds Worth; at least Gap of the way from
// cidre to the best clairvoyant policy.
type Bar struct {
	Candidate    string
	Clairvoyants []string
	Worth        float64 // percent
	Gap          float64 // share
}

// DefaultBar is that of cidre+.
func DefaultBar() Bar {
	return Bar{Candidate: "cidre+", Clairvoyants: []string{"offline", "offline-bss"}, Worth: 2, Gap: 0.5}
}

// Policies lists those that the bar compares.
func (b Bar) Policies() []string {
	return append([]string{"cidre", "cidre-bss", "lru", b.Candidate}, b.Clairvoyants...)
}

// Judge says how the candidate stands in a field that has runs of all
// Policies.
func (b Bar) Judge(f Field) Standing {
	s := Standing{Workload: f.Workload, PoolMB: f.PoolMB, Means: map[string]Sample{}}
	for policy, runs := range f.Runs {
		s.Means[policy] = mean(runs)
	}
	s.Best = b.best(s.Means)
	for _, policy := range b.Policies() {
		if !slices.Contains(b.Clairvoyants, policy) && s.Means[policy].Overhead < s.Means["offline"].Overhead {
			s.BeatOffline = append(s.BeatOffline, policy)
		}
	}
	better := s.Means["cidre"].Overhead > b.Worth
	for _, d := range []Demand{
		{Than: "cidre", Figure: "overhead", Better: better},
		{Than: "cidre", Figure: "cold", Better: better},
		{Than: "cidre-bss", Figure: "overhead"},
		{Than: "cidre-bss", Figure: "cold"},
		{Than: "lru", Figure: "overhead"},
	} {
		d.Difference = pairs(f.Runs[d.Than], f.Runs[b.Candidate], d.Figure)
		v := verdict(d.Difference)
		d.Met = v == Holds || v == Undecided && !d.Better
		s.Demands = append(s.Demands, d)
	}
	s.Met = !slices.ContainsFunc(s.Demands, func(d Demand) bool { return !d.Met })
	return s
}

func (b Bar) best(means map[string]Sample) Sample {
	best := means[b.Clairvoyants[0]]
	for _, policy := range b.Clairvoyants[1:] {
		best.Overhead = min(best.Overhead, means[policy].Overhead)
		best.Cold = min(best.Cold, means[policy].Cold)
	}
	return best
}

// Closed is the share of the gap from cidre to the best clairvoyant that the
// candidate closes, of the means over all standings; 0 without a gap.
func (b Bar) Closed(all []Standing) Sample {
	var had, left Sample
	for _, s := range all {
		from, to := s.Means["cidre"], s.Means[b.Candidate]
		had.Overhead += from.Overhead - s.Best.Overhead
		had.Cold += from.Cold - s.Best.Cold
		left.Overhead += from.Overhead - to.Overhead
		left.Cold += from.Cold - to.Cold
	}
	return Sample{share(left.Overhead, had.Overhead), share(left.Cold, had.Cold)}
}

func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

func mean(runs []Sample) Sample {
	var sum Sample
	for _, r := range runs {
		sum.Overhead += r.Overhead / float64(len(runs))
		sum.Cold += r.Cold / float64(len(runs))
	}
	return sum
}

func pairs(than, candidate []Sample, figure string) Interval {
	differences := make([]float64, min(len(than), len(candidate)))
	for i := range differences {
		differences[i] = than[i].Overhead - candidate[i].Overhead
		if figure == "cold" {
			differences[i] = than[i].Cold - candidate[i].Cold
		}
	}
	return NewInterval(differences)
}
