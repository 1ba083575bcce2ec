package trace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Draws is the number of workloads that Draw knows.
const Draws = 99

// drawRequests keeps a draw at half the size of AzureLike: there are many.
const drawRequests = 300_000

// Draw returns the n-th workload, from 1 to Draws, whose parameters are drawn
// at random and were fitted to nothing: what a policy does on many of them says
// whether it owes its figures to one workload. Counts and times are drawn
// evenly on a logarithmic scale, shares and exponents evenly:
//
//	functions 120-480, share of rank^-(0-1.2), 0-80 % of the requests even;
//	bursts of 1.5-12 requests (sigma 0-0.8 within and between functions) over
//	50 ms-3 s, gaps of shape 0.5-20; execution 100-400 ms in the mean (sigma
//	0.3-1.2, between functions 0-1) and at most 4 times the mean; cold start
//	100-800 ms (sigma 0-0.4, between functions 0-0.6); memory 128-512 MB (0-0.8)
//
// It fails on any other n.
func Draw(n int) (Synthetic, error) {
	if n < 1 || n > Draws {
		return Synthetic{}, fmt.Errorf("draw workload: %d is not between 1 and %d", n, Draws)
	}
	r := rand.New(rand.NewPCG(uint64(n), 0x64726177))
	even := func(low, high float64) float64 { return low + (high-low)*r.Float64() }
	log := func(low, high float64) float64 { return math.Exp(even(math.Log(low), math.Log(high))) }
	span := func(low, high float64) time.Duration {
		return time.Duration(log(low, high) * float64(time.Millisecond))
	}
	s := Synthetic{
		Functions: int(log(120, 480)), Requests: drawRequests, Span: 30 * time.Minute, ZipfS: even(0, 1.2), Even: even(0, 0.8),
		Burst: log(1.5, 12), BurstSigma: even(0, 0.8), BurstFunction: even(0, 0.8), BurstWidth: span(50, 3000), GapShape: log(0.5, 20),
		ExecMean: span(100, 400), ExecSigma: even(0.3, 1.2), ExecFunction: even(0, 1),
		Cold: span(100, 800), ColdSigma: even(0, 0.4), ColdFunction: even(0, 0.6), MemMB: log(128, 512), MemSigma: even(0, 0.8),
	}
	s.ExecCap = 4 * s.ExecMean
	return s, nil
}

// BusyMB is the mean memory of the requests in execution.
func (s *Synthetic) BusyMB() float64 {
	return float64(s.Requests) / s.Span.Seconds() * s.ExecMean.Seconds() * s.MemMB
}

// drawn reads the name draw-N, or one of Grid.
func drawn(name string) (Source, bool, error) {
	number, ok := strings.CutPrefix(name, "draw-")
	if !ok {
		return gridded(name)
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return Source{}, false, nil
	}
	s, err := Draw(n)
	return Source{Name: name, Note: name + " is synthetic, its parameters drawn at random and fitted to nothing", Synthetic: &s}, true, err
}
