package trace

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Invocation is one request of a workload.
type Invocation struct {
	At       time.Duration // since the beginning of the first minute taken
	Function int           // index into the functions that were expanded
	Exec     time.Duration // how long the handler runs
}

// Options say how per-minute counts become invocations.
type Options struct {
	First, Minutes int           // the minutes taken, counted from 0; 0 minutes means all from First on
	Sigma          float64       // unevenness of the seconds inside a minute; 0 makes them alike
	MaxExec        time.Duration // execution times are cut here; 0 is no limit
	Seed           uint64
}

// Expand draws the invocations of functions, in order of time; ties are in
// order of the functions. It fails when the options ask for minutes that the
// trace does not have.
func Expand(functions []Function, o Options) ([]Invocation, error) {
	last, err := o.last(functions)
	if err != nil {
		return nil, err
	}
	var all []Invocation
	for i, f := range functions {
		for minute := o.First; minute < last; minute++ {
			all = f.expand(all, i, minute, time.Duration(minute-o.First)*time.Minute, o)
		}
	}
	slices.SortFunc(all, byTime)
	return all, nil
}

func (o Options) check(f Function, last int) error {
	if o.First < 0 || o.Minutes < 0 || o.First >= last || last > len(f.PerMinute) {
		return fmt.Errorf("expand %s: minutes %d to %d asked for, the trace has %d", f.ID, o.First+1, last, len(f.PerMinute))
	}
	return nil
}

// expand appends the invocations of one minute of function i.
func (f Function) expand(all []Invocation, i, minute int, begin time.Duration, o Options) []Invocation {
	if f.PerMinute[minute] == 0 {
		return all
	}
	d := newDraw(f.ID, minute, o)
	for range f.PerMinute[minute] {
		all = append(all, Invocation{At: begin + d.instant(), Function: i, Exec: d.exec(f.Exec, o.MaxExec)})
	}
	return all
}

// draw is the chance of one function in one minute.
type draw struct {
	random     *rand.Rand
	cumulative [60]float64 // of the seconds' weights
}

func newDraw(id string, minute int, o Options) *draw {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s@%d", id, minute)
	d := &draw{random: rand.New(rand.NewPCG(o.Seed, hash.Sum64()))}
	sum := 0.0
	for s := range d.cumulative {
		sum += math.Exp(o.Sigma * d.random.NormFloat64())
		d.cumulative[s] = sum
	}
	return d
}

// instant draws a second by its weight, and a moment in it. Repeated for each
// invocation this is the multinomial draw.
func (d *draw) instant() time.Duration {
	u := d.random.Float64() * d.cumulative[len(d.cumulative)-1]
	second, _ := slices.BinarySearch(d.cumulative[:], u)
	second = min(second, len(d.cumulative)-1)
	return time.Duration((float64(second) + d.random.Float64()) * float64(time.Second))
}

func (d *draw) exec(p Percentiles, limit time.Duration) time.Duration {
	t := p.At(d.random.Float64())
	if limit > 0 {
		t = min(t, limit)
	}
	return t
}
