package repro

import (
	"fmt"
	"math"

	"github.com/open-lambda/open-lambda/src/sim/study"
)

// Verdict is what is said of a claim.
type Verdict string

// Verdicts.
const (
	Pass        Verdict = "PASS"
	Fail        Verdict = "FAIL"
	NotTestable Verdict = "NOT TESTABLE"
	Fitted      Verdict = "FITTED" // the workload was calibrated to what is claimed
)

// Claim is something that the paper states and that can be judged: see rule.
type Claim struct {
	Text  string
	Where string  // section or figure of the paper
	Unit  string  // of Of: "%", "points", "ms", ...
	Paper float64 // the value that the paper states; NaN for an order
	Low   float64 // Low to High is tolerated
	High  float64
	Of    func(d *Data, seed uint64) float64 // nil: nothing can be measured
	rule  rule
	// source is where the value comes from if no seed changes it: it is measured
	// once and has no interval.
	source string
	// caveat is said beside a PASS that shows less than it seems to.
	caveat string
	// uses are the figures that the claim is about, and nothing else; nil if it
	// is about more. on is the workload. See using.
	uses []used
	on   string
	// Untestable says why the claim cannot be decided here.
	Untestable string
}

// rule says how a claim is judged. The interval is the 95 % one over the seeds.
type rule uint8

const (
	// amount: a share, a time, a count. The mean is in the tolerated range, and the
	// interval, if there is one, lies above 0.
	amount rule = iota
	// gap: by how much one thing exceeds or falls below another, in percent. The
	// mean is in the tolerated range, and the whole interval lies above 0: there
	// must be one.
	gap
	// orders: which of two is less. The whole interval of the margin lies above 0.
	orders
	// same: two things do not differ. The whole interval of the difference lies in
	// the tolerated range.
	same
)

// Judged is a claim with its verdict.
type Judged struct {
	Figure    string         `json:"figure"`
	Text      string         `json:"claim"`
	Where     string         `json:"where"`
	Paper     string         `json:"paper"`
	Tolerance string         `json:"tolerance"`
	Measured  study.Interval `json:"measured"`
	Value     string         `json:"value"`
	Verdict   Verdict        `json:"verdict"`
	Why       string         `json:"why,omitempty"`
}

// tolerance is that of all claims with a value in percent: five points or a quarter
// of the value, the larger one, and nothing that no share can be.
func tolerance(value float64) (low, high float64) {
	t := max(5, math.Abs(value)/4)
	return max(value-t, 0), min(value+t, 100)
}

// about claims a share, in percent.
func about(where, text string, value float64, of func(d *Data, seed uint64) float64) Claim {
	low, high := tolerance(value)
	return Claim{Text: text, Where: where, Unit: "%", Paper: value, Low: low, High: high, Of: of}
}

// apart claims by how many percent one thing is below or above another.
func apart(where, text string, value float64, of func(d *Data, seed uint64) float64) Claim {
	c := about(where, text, value, of)
	c.rule = gap
	return c
}

// near claims a value in another unit: a quarter more or less is tolerated.
func near(where, text, unit string, value float64, of func(d *Data, seed uint64) float64) Claim {
	return Claim{Text: text, Where: where, Unit: unit, Paper: value, Low: 0.75 * value, High: 1.25 * value, Of: of}
}

// order claims that margin, the larger thing minus the smaller one, exceeds 0.
func order(where, text, unit string, margin func(d *Data, seed uint64) float64) Claim {
	return Claim{Text: text, Where: where, Unit: unit, Paper: math.NaN(), Low: 0, High: math.Inf(1), rule: orders, Of: margin}
}

// within claims that two things do not differ: by at most most, either way. What
// most is must be said where it is used, for no rule gives it.
func within(where, text, unit string, paper, most float64, of func(d *Data, seed uint64) float64) Claim {
	return Claim{Text: text, Where: where, Unit: unit, Paper: paper, Low: -most, High: most, rule: same, Of: of}
}

// untestable states a claim that cannot be decided here. of may measure
// something to be shown beside it, or be nil.
func untestable(where, text, unit string, value float64, why string, of func(d *Data, seed uint64) float64) Claim {
	return Claim{Text: text, Where: where, Unit: unit, Paper: value, Untestable: why, Of: of}
}

// oneSeed is said where an interval would be needed.
const oneSeed = "one seed: no interval"

// What a value without seeds comes from.
const (
	theData   = "the data itself"
	recorded  = "one recording"
	parameter = "a parameter of the workload"
	noChance  = "simulated without chance"
)

// from says that no seed changes the value, and where it comes from.
func (c Claim) from(source string) Claim {
	c.source = source
	return c
}

// judge decides a claim.
func (c Claim) judge(figure string, d *Data) Judged {
	j := Judged{Figure: figure, Text: c.Text, Where: c.Where, Paper: c.paper(), Value: "-"}
	if c.Of != nil {
		j.Measured = c.measure(d)
		j.Value = c.show(j.Measured)
	}
	j.Tolerance = c.tolerated(j.Measured)
	j.Verdict, j.Why = c.decide(j.Measured)
	if math.IsNaN(j.Measured.Mean) || math.IsNaN(j.Measured.Half) {
		j.Measured = study.Interval{} // of nothing; JSON has no NaN
	}
	return j
}

func (c Claim) measure(d *Data) study.Interval {
	if c.source != "" {
		return single(c.Of(d, d.Seeds[0]))
	}
	return d.interval(func(seed uint64) float64 { return c.Of(d, seed) })
}

func (c Claim) decide(m study.Interval) (Verdict, string) {
	switch {
	case c.Untestable != "":
		return NotTestable, c.Untestable
	case math.IsNaN(m.Mean):
		return Fail, "nothing was measured"
	case c.fitted():
		return Fitted, "the workload was calibrated to it"
	}
	if why := c.against(m); why != "" {
		return Fail, why
	}
	return Pass, c.caveat
}

// against says what speaks against the claim, empty if nothing does.
func (c Claim) against(m study.Interval) string {
	low, high := m.Mean-m.Half, m.Mean+m.Half
	switch {
	case c.rule != amount && c.source == "" && m.N < 2:
		return "undecided (" + oneSeed + ")"
	case c.rule == orders && m.Mean <= 0:
		return "it is the other way round"
	case m.Mean < c.Low:
		return "less than tolerated"
	case m.Mean > c.High:
		return "more than tolerated"
	case c.rule == same && (low < c.Low || high > c.High):
		return "undecided: the interval leaves what is tolerated"
	case c.rule != same && low <= 0:
		return "undecided: the interval contains 0"
	}
	return ""
}

func (c Claim) show(i study.Interval) string {
	if math.IsNaN(i.Mean) {
		return "-"
	}
	if i.N < 2 {
		return fmt.Sprintf("%s %s", number(i.Mean), c.Unit)
	}
	return fmt.Sprintf("%s ± %s %s", number(i.Mean), number(i.Half), c.Unit)
}

func (c Claim) paper() string {
	if math.IsNaN(c.Paper) {
		return "order"
	}
	return number(c.Paper) + " " + c.Unit
}

// tolerated says what lets the claim pass, for what was measured.
func (c Claim) tolerated(m study.Interval) string {
	interval, without := "95 % interval ", ""
	switch {
	case c.Untestable != "":
		return "-"
	case c.source != "":
		interval, without = "", " ("+c.source+": no interval)"
	case m.N == 1:
		without = " (" + oneSeed + ")"
	}
	values := fmt.Sprintf("%s to %s %s", number(c.Low), number(c.High), c.Unit)
	switch c.rule {
	case orders:
		return interval + "above 0" + without
	case gap:
		return values + ", " + interval + "above 0" + without
	case same:
		return interval + "in " + values + without
	case amount:
	}
	return values + without
}

// number prints three digits or so.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 1 || v == 0:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// less returns what a value of the first point lacks to the second's.
func less(a, b Point, value func(*Measured) float64) func(*Data, uint64) float64 {
	return func(d *Data, seed uint64) float64 { return value(d.get(b, seed)) - value(d.get(a, seed)) }
}

// reduction returns by how many percent a value of the first point is below the
// second's.
func reduction(a, b Point, value func(*Measured) float64) func(*Data, uint64) float64 {
	return func(d *Data, seed uint64) float64 {
		whole := value(d.get(b, seed))
		if whole == 0 {
			return math.NaN()
		}
		return 100 * (1 - value(d.get(a, seed))/whole)
	}
}

// of returns a value of a point.
func of(p Point, value func(*Measured) float64) func(*Data, uint64) float64 {
	return func(d *Data, seed uint64) float64 { return value(d.get(p, seed)) }
}

// least and most combine measures.
func least(all ...func(*Data, uint64) float64) func(*Data, uint64) float64 {
	return fold(math.Min, all)
}

func most(all ...func(*Data, uint64) float64) func(*Data, uint64) float64 {
	return fold(math.Max, all)
}

func fold(f func(a, b float64) float64, all []func(*Data, uint64) float64) func(*Data, uint64) float64 {
	return func(d *Data, seed uint64) float64 {
		v := all[0](d, seed)
		for _, g := range all[1:] {
			v = f(v, g(d, seed))
		}
		return v
	}
}
