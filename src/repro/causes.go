package repro

import (
	"fmt"
	"math"

	"github.com/open-lambda/open-lambda/src/sim/study"
)

// experiment changes one thing of azure-like and tells what should follow if the cause
// that docs/reproduction.md gives under the letter is right.
type experiment struct {
	letter   string // "" is the workload as it is
	what     string
	workload string
	gb       float64
	// follows is what should move, and which way it is said to: rises or falls
	// against the workload as it is.
	follows effect
	rises   bool
}

// experiments hold the share of cold starts under FaasCache near the paper's 74 %
// where only the shape of the load is to change, by the cache's size.
func experiments() []experiment {
	const base = "azure-like"
	follows := effects()
	return []experiment{
		{"", "azure-like as it is", base, defaultGB, effect{}, false},
		{"H", "functions are called more: 130 functions share the requests", base + ":functions=130", 80, follows.delayed, true},
		{"H", "much more: 66 functions", base + ":functions=66", 60, follows.delayed, true},
		{"I", "the same: what CSS adds to CIP and BSS", base + ":functions=66", 60, follows.cidre, true},
		{"I", "no bursts", base + ":even=1", defaultGB, follows.cidre, true},
		{"I", "bursts of eight", base + ":burst=8", defaultGB, follows.cidre, false},
		{"I", "twice the memory", base, 2 * defaultGB, follows.css, true},
		{"E", "functions are unlike: a share of rank^-1.2", base + ":zipf_s=1.2", defaultGB, follows.cip, false},
		{"E", "the same with less memory", base + ":zipf_s=1.2", 60, follows.cip, false},
		{"E", "twice the memory", base, 2 * defaultGB, follows.cip, true},
		{"N", "executions without a tail", base + ":exec_sigma=0.3,exec_function=0", defaultGB, follows.slowest, false},
	}
}

// effect is a figure of an experiment.
type effect struct {
	name string
	of   func(s Scene, e experiment) measure
}

func (e experiment) at(s Scene, policy string) Point { return s.at(e.workload, policy, e.gb) }

func causePolicies() []string {
	return []string{"faascache", "cip", "bss", "css", "cidre-bss", "cidre"}
}

// measuredEffects are what is measured of each experiment.
type measuredEffects struct {
	faascache, cip, css, cidre, delayed, cidreCold, slowest effect
}

func effects() measuredEffects {
	gain := func(a, b string) func(Scene, experiment) measure {
		return func(s Scene, e experiment) measure { return reduction(e.at(s, a), e.at(s, b), overhead) }
	}
	value := func(policy string, v func(*Measured) float64) func(Scene, experiment) measure {
		return func(s Scene, e experiment) measure { return of(e.at(s, policy), v) }
	}
	return measuredEffects{
		faascache: effect{"FaasCache: cold (%)", value("faascache", cold)},
		cip:       effect{"CIP below FaasCache (%)", gain("cip", "faascache")},
		css:       effect{"CSS below BSS (%)", gain("css", "bss")},
		cidre:     effect{"CIDRE below CIDRE_BSS (%)", gain("cidre", "cidre-bss")},
		delayed: effect{"CIDRE: delayed among the starts that are not warm (%)", value("cidre", func(m *Measured) float64 {
			return 100 * delayed(m) / max(delayed(m)+cold(m), 1e-9)
		})},
		cidreCold: effect{"CIDRE: cold (%)", value("cidre", cold)},
		slowest:   effect{"CIDRE: 90th percentile end to end (ms)", value("cidre", func(m *Measured) float64 { return m.Total.At(0.9) })},
	}
}

// all are in the order of the table.
func (e measuredEffects) all() []effect {
	return []effect{e.faascache, e.cip, e.css, e.cidre, e.delayed, e.cidreCold, e.slowest}
}

func causes() Figure {
	return Figure{
		ID: "causes", Title: "Causes of failed claims, tried", Where: "Beyond the paper", Beyond: true,
		Note: "One thing of azure-like is changed at a time; the letters are those of docs/reproduction.md. The varied workloads are fitted to nothing.",
		Points: func(s Scene) []Point {
			var all []Point
			for _, e := range experiments() {
				for _, policy := range causePolicies() {
					all = append(all, e.at(s, policy))
				}
			}
			return all
		},
		Draw:   drawCauses,
		Claims: func(Scene) []Claim { return nil },
	}
}

func drawCauses(d *Data) (*Report, error) {
	r := &Report{}
	t := Table{Title: "what the experiments come to", Keys: []string{"experiment", "cache (GB)", "figure"}}
	seen := map[string]bool{}
	for _, e := range experiments() {
		if e.letter != "" {
			r.Text = append(r.Text, judgeCause(d, e))
		}
		at := fmt.Sprintf("%s %v", e.workload, e.gb)
		if seen[at] {
			continue
		}
		seen[at] = true
		for _, f := range effects().all() {
			t.Rows = append(t.Rows, Row{Key: []string{e.workload, text(e.gb), f.name}, Ours: d.each(f.of(d.Scene, e)), Paper: none()})
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
	base := experiments()[0]
	before, after := e.follows.of(d.Scene, base), e.follows.of(d.Scene, e)
	moved := d.interval(func(seed uint64) float64 { return after(d, seed) - before(d, seed) })
	word, sign := "falls", -1.0
	if e.rises {
		word, sign = "rises", 1
	}
	verdict := "undecided"
	if math.Abs(moved.Mean) > moved.Half {
		verdict = map[bool]string{true: "as the cause says", false: "against what the cause says"}[sign*moved.Mean > 0]
	}
	return fmt.Sprintf("%s. %s (%s, %v GB): if the cause is right, \"%s\" %s. It goes from %s to %s, by %s: %s.",
		e.letter, e.what, e.workload, e.gb, e.follows.name, word, interval(d.each(before)), interval(d.each(after)), signed(moved), verdict)
}

func signed(i study.Interval) string {
	if i.Mean > 0 {
		return "+" + interval(i)
	}
	return interval(i)
}
