package codecrunch

import (
	"cmp"
	"slices"
	"time"
)

// keeps are the keep-alive times to choose from, and the edges of the bins.
func keeps() [6]time.Duration {
	return [6]time.Duration{
		time.Minute, 2 * time.Minute, 5 * time.Minute,
		10 * time.Minute, 20 * time.Minute, 40 * time.Minute,
	}
}

// gaps counts the times between arrivals: bin i is up to keeps()[i], the last
// one is beyond them all.
type gaps struct {
	n    [7]int64
	sum  [7]time.Duration
	seen int64
}

func (g *gaps) add(d time.Duration) {
	i := 0
	for _, edge := range keeps() {
		if d > edge {
			i++
		}
	}
	g.n[i]++
	g.sum[i] += d
	g.seen++
}

// within returns P(gap <= T) and E[min(gap, T)] in seconds for keeps()[i].
func (g *gaps) within(i int) (p, held float64) {
	var n int64
	var sum time.Duration
	for j := 0; j <= i; j++ {
		n += g.n[j]
		sum += g.sum[j]
	}
	all := float64(g.seen)
	held = (sum.Seconds() + float64(g.seen-n)*keeps()[i].Seconds()) / all
	return float64(n) / all, held
}

// option is one way to keep a function's idle sandboxes.
type option struct {
	fn     int32
	keep   time.Duration
	shrunk bool
	value  float64 // ms saved per minute
	cost   float64 // MB*s per minute
}

// choice is what was chosen for a function.
type choice struct {
	keep        time.Duration
	shrunk      bool
	value, cost float64
}

// choose takes options greedily within the budget, in MB*s per minute, and
// writes the choices by function; what is not chosen is left as it is.
func choose(options []option, budget float64, chosen []choice) {
	slices.SortFunc(options, func(a, b option) int {
		return cmp.Or(
			cmp.Compare(b.value/b.cost, a.value/a.cost),
			cmp.Compare(a.fn, b.fn), cmp.Compare(a.keep, b.keep), compareBool(a.shrunk, b.shrunk))
	})
	for _, o := range options {
		c := &chosen[o.fn]
		if extra := o.cost - c.cost; o.value > c.value && extra <= budget {
			budget -= extra
			*c = choice{o.keep, o.shrunk, o.value, o.cost}
		}
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
