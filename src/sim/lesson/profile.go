package lesson

import (
	"math"
	"time"

	"github.com/open-lambda/open-lambda/src/trace"
)

// Window is the length of the model's world.
const Window = 1800 * time.Second

// Profile is a pattern of calls.
type Profile struct {
	Name    string
	mean    time.Duration
	windows []time.Duration // beginnings of the spans in which calls come
	span    time.Duration
}

// Profiles returns the three of the lesson: about the same number of calls in
// regular and bursty.
func Profiles() []Profile {
	return []Profile{
		{"sparse", 90 * time.Second, []time.Duration{0}, Window},
		{"regular", 250 * time.Millisecond, []time.Duration{0}, Window},
		{"bursty", 25 * time.Millisecond, []time.Duration{0, 600 * time.Second, 1200 * time.Second}, time.Minute},
	}
}

// xorshift is Marsaglia's 32-bit generator with shifts 13, 17, 5.
type xorshift uint32

const seed xorshift = 20260804

// next returns a number in [0, 1): the state after the step over 2^32.
func (x *xorshift) next() float64 {
	v := *x
	v ^= v << 13
	v ^= v >> 17
	v ^= v << 5
	*x = v
	return float64(v) / (1 << 32)
}

// calls draws the arrivals. Each span starts its own clock, the generator goes
// on; a draw that overshoots its span is consumed.
func (p Profile) calls(exec time.Duration) []trace.Invocation {
	g := seed
	mean := float64(p.mean) / float64(time.Millisecond)
	var all []trace.Invocation
	for _, begin := range p.windows {
		end := millis(begin + p.span)
		for t := millis(begin); ; {
			t += -math.Log(1-g.next()) * mean
			if t >= end {
				break
			}
			at := time.Duration(math.Round(t * float64(time.Millisecond)))
			all = append(all, trace.Invocation{At: at, Exec: exec})
		}
	}
	return all
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
