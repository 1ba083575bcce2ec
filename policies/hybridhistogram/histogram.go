package hybridhistogram

import (
	"math"
	"time"
)

// history is the idle times of one function.
type history struct {
	bins   []uint32
	n      uint32  // samples in bins
	sumSq  float64 // sum of the squares of the bins
	out    uint32  // samples out of bounds
	last   [forecastSamples]time.Duration
	lastN  int
	stale  bool // windows must be computed anew
	window window
}

// window is what to do after the end of a function's last request.
type window struct {
	prewarm time.Duration // 0: do not unload
	keep    time.Duration // from the same moment
}

const (
	forecastSamples = 16
	forecastMargin  = 0.15 // the paper's margin around a forecast
)

// add counts an idle time.
func (h *history) add(cfg *Config, d time.Duration) {
	if h.bins == nil {
		h.bins = make([]uint32, int(cfg.Range/cfg.Bin))
	}
	h.stale = true
	h.last[h.lastN%forecastSamples] = d
	h.lastN++
	i := int(d / cfg.Bin)
	if i >= len(h.bins) {
		h.out++
		return
	}
	h.sumSq += float64(2*h.bins[i] + 1)
	h.bins[i]++
	h.n++
}

// cv is the coefficient of variation of the bin counts.
func (h *history) cv() float64 {
	if h.n == 0 {
		return 0
	}
	b := float64(len(h.bins))
	mean := float64(h.n) / b
	return math.Sqrt(max(0, h.sumSq/b-mean*mean)) / mean
}

// quantile returns the bin that holds the q-quantile.
func (h *history) quantile(q float64) int {
	need := max(1, uint32(math.Ceil(q*float64(h.n))))
	var sum uint32
	for i, c := range h.bins {
		if sum += c; sum >= need {
			return i
		}
	}
	return len(h.bins) - 1
}

// windows decides what to do after the next end.
func (h *history) windows(cfg *Config) window {
	if h.stale || h.window.keep == 0 {
		h.window, h.stale = h.compute(cfg), false
	}
	return h.window
}

func (h *history) compute(cfg *Config) window {
	total := h.n + h.out
	switch {
	case total < uint32(cfg.MinSamples):
		return window{keep: cfg.Fixed}
	case 2*h.out > total:
		x := h.forecast()
		return window{scale(x, 1-forecastMargin), scale(x, 1+forecastMargin)}
	case h.cv() < cfg.CV:
		return window{keep: cfg.Fixed}
	}
	head := time.Duration(h.quantile(cfg.Head)) * cfg.Bin
	tail := time.Duration(h.quantile(cfg.Tail)+1) * cfg.Bin
	return window{scale(head, 1-cfg.Margin), scale(tail, 1+cfg.Margin)}
}

func scale(d time.Duration, by float64) time.Duration {
	return time.Duration(math.Round(float64(d) * by))
}

// forecast predicts the next idle time: x' = a + b x by least squares over the
// pairs of successive idle times, their mean where the pairs do not determine
// a line, never less than half or more than twice the mean.
func (h *history) forecast() time.Duration {
	n := min(h.lastN, forecastSamples)
	at := func(i int) float64 { return float64(h.last[(h.lastN-n+i)%forecastSamples]) }
	var mean float64
	for i := range n {
		mean += at(i) / float64(n)
	}
	if n < 3 {
		return time.Duration(mean)
	}
	pairs := float64(n - 1)
	var mx, my, sxx, sxy float64
	for i := range n - 1 {
		mx += at(i) / pairs
		my += at(i+1) / pairs
	}
	for i := range n - 1 {
		sxx += (at(i) - mx) * (at(i) - mx)
		sxy += (at(i) - mx) * (at(i+1) - my)
	}
	if sxx == 0 {
		return time.Duration(mean)
	}
	x := my + sxy/sxx*(at(n-1)-mx)
	return time.Duration(min(max(x, mean/2), 2*mean))
}
