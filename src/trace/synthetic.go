package trace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Synthetic generates a workload: functions of unequal popularity whose
// requests come partly at any time and partly in bursts. z is standard normal,
// drawn per burst or request, z_F per function.
type Synthetic struct {
	Functions int
	Requests  int
	Span      time.Duration

	ZipfS float64 // a function's share goes with rank^-ZipfS
	Even  float64 // share of requests that are uniform in time

	Burst         float64       // B: mean requests of a burst are B e^(BurstFunction z_F)
	BurstSigma    float64       // of the bursts of a function: b_F e^(s z - s^2/2) requests
	BurstFunction float64       // between functions
	BurstWidth    time.Duration // a burst's requests are spread over it
	GapShape      float64       // k: the next burst comes after a Gamma(k)/k share of the mean gap

	ExecMean     time.Duration // over requests; the median is solved for it
	ExecSigma    float64       // between requests of a function
	ExecFunction float64       // between functions
	ExecCap      time.Duration

	Cold         time.Duration // median
	ColdSigma    float64       // between starts of a function
	ColdFunction float64       // between functions

	MemMB    float64 // mean over requests
	MemSigma float64 // between functions
}

const (
	leastExec = 2 * time.Millisecond
	mostCold  = mostColdMS * time.Millisecond // median of a function
)

func (s *Synthetic) check() error {
	for _, p := range Parameters() {
		if err := p.check(p.Get(s)); err != nil {
			return fmt.Errorf("generate workload: %w", err)
		}
	}
	switch {
	case s.Requests < s.Functions:
		return fmt.Errorf("generate workload: %d requests are fewer than %d functions", s.Requests, s.Functions)
	case s.ExecMean <= leastExec || s.ExecMean >= s.ExecCap:
		return fmt.Errorf("generate workload: exec_mean_ms, %v, must lie between %v and exec_cap_ms, %v", s.ExecMean, leastExec, s.ExecCap)
	}
	return nil
}

// Workload generates. It holds all invocations in memory.
func (s Synthetic) Workload(seed uint64) (Workload, error) {
	if err := s.check(); err != nil {
		return Workload{}, err
	}
	g := generator{Synthetic: s, r: rand.New(rand.NewPCG(seed, 0x73796e))}
	counts := g.shares()
	profiles := g.profiles(counts)
	for i, n := range counts {
		g.function(i, n)
	}
	g.execution()
	slices.SortFunc(g.all, byTime)
	return FromSlice("synthetic", s.Span, profiles, g.all), nil
}

type generator struct {
	Synthetic
	r     *rand.Rand
	all   []Invocation
	noise []float64 // by invocation: its execution over the median
}

// shares splits the requests over the functions by rank.
func (g *generator) shares() []int {
	weights, sum := make([]float64, g.Functions), 0.0
	for i := range weights {
		weights[i] = math.Pow(float64(i+1), -g.ZipfS)
		sum += weights[i]
	}
	counts, left, rest := make([]int, g.Functions), g.Requests, sum
	for i, w := range weights {
		counts[i] = left // what rounding left of the rest may be less than nothing
		if w < rest {
			counts[i] = int(math.Round(float64(left) * w / rest))
		}
		left -= counts[i]
		rest -= w
	}
	return counts
}

func (g *generator) logNormal(sigma float64) float64 { return math.Exp(sigma * g.r.NormFloat64()) }

// profiles draws memory and cold start, and scales memory to its mean.
func (g *generator) profiles(counts []int) []Profile {
	mb, mean := make([]float64, g.Functions), 0.0
	for i := range mb {
		mb[i] = g.logNormal(g.MemSigma)
		mean += mb[i] * float64(counts[i]) / float64(g.Requests)
	}
	all := make([]Profile, g.Functions)
	for i := range all {
		all[i] = Profile{
			Name: fmt.Sprintf("f%03d", i), MB: int64(min(max(1, math.Round(mb[i]*g.MemMB/mean)), maxMB)),
			Cold: time.Duration(min(float64(g.Cold)*g.logNormal(g.ColdFunction), float64(mostCold))), ColdSigma: g.ColdSigma,
		}
	}
	return all
}

// function draws the arrivals of one function, and how its executions vary.
func (g *generator) function(fn, n int) {
	slow := g.logNormal(g.ExecFunction)
	add := func(at float64) {
		at = math.Mod(at, float64(g.Span)) // past the end wraps
		g.all = append(g.all, Invocation{At: time.Duration(at), Function: fn})
		g.noise = append(g.noise, slow*g.logNormal(g.ExecSigma))
	}
	even := int(math.Round(float64(n) * g.Even))
	for range even {
		add(g.r.Float64() * float64(g.Span))
	}
	size := g.Burst * g.logNormal(g.BurstFunction)
	gap := float64(g.Span) * size / float64(max(1, n-even))
	at := g.r.Float64() * float64(g.Span)
	for left := n - even; left > 0; {
		drawn := math.Round(size * math.Exp(g.BurstSigma*g.r.NormFloat64()-g.BurstSigma*g.BurstSigma/2))
		k := int(min(max(1, drawn), float64(left)))
		for range k {
			add(at + g.r.Float64()*float64(g.BurstWidth))
		}
		left -= k
		at += gap * g.gamma(g.GapShape) / g.GapShape * float64(k) / size
	}
}

// gamma draws from the gamma distribution with scale 1 (Marsaglia and Tsang,
// 2000).
func (g *generator) gamma(shape float64) float64 {
	if shape < 1 {
		return g.gamma(shape+1) * math.Pow(g.r.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := g.r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := g.r.Float64()
		if math.Log(u) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// execution solves for the median that gives the mean, by bisection: the mean
// grows with it.
func (g *generator) execution() {
	low, high := 0.0, float64(g.ExecCap)*1e3
	for range halvings {
		middle := (low + high) / 2
		sum := 0.0
		for _, x := range g.noise {
			sum += g.clip(middle * x)
		}
		if sum/float64(len(g.noise)) < float64(g.ExecMean) {
			low = middle
		} else {
			high = middle
		}
	}
	for i, x := range g.noise {
		g.all[i].Exec = time.Duration(g.clip(high * x))
	}
}

// halvings leave the median to a nanosecond.
const halvings = 40

func (g *generator) clip(v float64) float64 {
	return min(max(v, float64(leastExec)), float64(g.ExecCap))
}
