package repro

import (
	"fmt"
	"math"
	"slices"

	"github.com/open-lambda/open-lambda/src/sim/study"
)

func causes() Figure {
	return Figure{
		ID: "causes", Title: "Causes of failed claims, tried", Where: "Beyond the paper", Beyond: true,
		Note: "One thing is changed at a time, of the workload or of the policy; the letters are those of docs/reproduction.md. The varied workloads are fitted to nothing.",
		Points: func(s Scene) []Point {
			var all []Point
			for _, at := range causeSpots() {
				for _, e := range effectsAt(at) {
					for _, policy := range e.policies {
						all = append(all, at.point(s, policy))
					}
				}
			}
			return all
		},
		Draw:   drawCauses,
		Claims: func(Scene) []Claim { return nil },
	}
}

// causeSpots lists every spot of the experiments once, in the order of the table.
func causeSpots() []spot {
	azure, fc, mapped := causeBases()
	all := []spot{azure, fc, mapped}
	for _, e := range experiments() {
		if !slices.Contains(all, e.there.spot) {
			all = append(all, e.there.spot)
		}
	}
	return all
}

// effectsAt lists what is measured at a spot: the same everywhere, and what the
// experiments there are about.
func effectsAt(at spot) []effect {
	all := effects().all()
	for _, e := range experiments() {
		for _, side := range []seen{e.compared, e.there} {
			known := slices.ContainsFunc(all, func(other effect) bool { return other.name == side.name })
			if side.spot == at && !known {
				all = append(all, side.effect)
			}
		}
	}
	return all
}

func drawCauses(d *Data) (*Report, error) {
	r := &Report{}
	for _, e := range experiments() {
		r.Text = append(r.Text, judgeCause(d, e))
	}
	t := Table{Title: "what the experiments come to", Keys: []string{"experiment", "cache (GB)", "figure"}}
	for _, at := range causeSpots() {
		for _, e := range effectsAt(at) {
			t.Rows = append(t.Rows, Row{Key: []string{at.workload, text(at.gb), e.name}, Ours: d.each(e.of(d.Scene, at)), Paper: none()})
		}
	}
	r.Tables = []Table{t}
	return r, nil
}

// each is the interval of a measure over the seeds.
func (d *Data) each(m measure) study.Interval {
	return d.interval(func(seed uint64) float64 { return m(d, seed) })
}

// judgeCause says whether what should follow did, seeds in pairs.
func judgeCause(d *Data, e experiment) string {
	before, after := e.compared.measure(d.Scene), e.there.measure(d.Scene)
	moved := d.interval(func(seed uint64) float64 { return after(d, seed) - before(d, seed) })
	claim := fmt.Sprintf("%q %s", e.there.name, map[bool]string{true: "rises", false: "falls"}[e.rises])
	if e.there.name != e.compared.name {
		claim = fmt.Sprintf("%q is %s than %q", e.there.name, map[bool]string{true: "more", false: "less"}[e.rises], e.compared.name)
	}
	return fmt.Sprintf("%s. %s (%s, %v GB): if the cause is right, %s. From %s to %s, by %s: %s.",
		e.letter, e.what, e.there.workload, e.there.gb, claim, interval(d.each(before)), interval(d.each(after)), signed(moved), causeVerdict(moved, e.rises))
}

// causeVerdict tells whether something moved as a cause says.
func causeVerdict(moved study.Interval, rises bool) string {
	switch {
	case moved.N < 2:
		return "undecided (" + oneSeed + ")"
	case math.Abs(moved.Mean) <= moved.Half:
		return "undecided"
	case (moved.Mean > 0) == rises:
		return "as the cause says"
	}
	return "against what the cause says"
}

func signed(i study.Interval) string {
	if i.Mean > 0 {
		return "+" + interval(i)
	}
	return interval(i)
}
