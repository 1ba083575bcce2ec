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

// Claim is an inequality that the paper states. Low <= Of <= High is tolerated.
type Claim struct {
	Text  string
	Where string  // section or figure of the paper
	Unit  string  // of Of: "%", "points", "ms", ...
	Paper float64 // the value that the paper states; NaN for an order
	Low   float64
	High  float64
	// Order makes the claim one about which is less: the whole interval of Of
	// must lie above Low, which is 0.
	Order bool
	Of    func(d *Data, seed uint64) float64 // nil: nothing can be measured
	// uses are the figures that the claim is about, and nothing else; nil if it
	// is about more. on is the workload. See using.
	uses []used
	on   string
	// Untestable says why the claim cannot be decided here.
	Untestable string
}

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

// tolerance is the rule for all claims with a value: five points or a quarter
// of the value, the larger one. For an effect that is claimed to be there, what
// is tolerated does not reach 0.
func tolerance(value float64) (low, high float64) {
	t := max(5, math.Abs(value)/4)
	return max(value-t, 0), value + t
}

// about claims a value in percent or points.
func about(where, text string, value float64, of func(d *Data, seed uint64) float64) Claim {
	low, high := tolerance(value)
	return Claim{Text: text, Where: where, Unit: "%", Paper: value, Low: low, High: high, Of: of}
}

// near claims a value in another unit: a quarter more or less is tolerated.
func near(where, text, unit string, value float64, of func(d *Data, seed uint64) float64) Claim {
	return Claim{Text: text, Where: where, Unit: unit, Paper: value, Low: 0.75 * value, High: 1.25 * value, Of: of}
}

// order claims that margin, the larger thing minus the smaller one, exceeds 0.
func order(where, text, unit string, margin func(d *Data, seed uint64) float64) Claim {
	return Claim{Text: text, Where: where, Unit: unit, Paper: math.NaN(), Low: 0, High: math.Inf(1), Order: true, Of: margin}
}

// untestable states a claim that cannot be decided here. of may measure
// something to be shown beside it, or be nil.
func untestable(where, text, unit string, value float64, why string, of func(d *Data, seed uint64) float64) Claim {
	return Claim{Text: text, Where: where, Unit: unit, Paper: value, Untestable: why, Of: of}
}

// judge decides a claim.
func (c Claim) judge(figure string, d *Data) Judged {
	j := Judged{Figure: figure, Text: c.Text, Where: c.Where, Paper: c.paper(), Tolerance: c.tolerated(), Why: c.Untestable, Value: "-"}
	if c.Of != nil {
		j.Measured = d.interval(func(seed uint64) float64 { return c.Of(d, seed) })
		j.Value = c.show(j.Measured)
		if c.Order && j.Measured.N == 1 {
			j.Tolerance = "above 0 (one seed: no interval)"
		}
	}
	j.Verdict, j.Why = c.decide(j.Measured)
	if math.IsNaN(j.Measured.Mean) || math.IsNaN(j.Measured.Half) {
		j.Measured = study.Interval{} // of nothing; JSON has no NaN
	}
	return j
}

func (c Claim) decide(m study.Interval) (Verdict, string) {
	switch {
	case c.Untestable != "":
		return NotTestable, c.Untestable
	case math.IsNaN(m.Mean):
		return Fail, "nothing was measured"
	case c.fitted():
		return Fitted, "the workload was calibrated to it"
	case c.Order && m.Mean <= 0:
		return Fail, "it is the other way round"
	case c.Order && m.Mean-m.Half <= 0:
		return Fail, "undecided: the interval contains 0"
	case m.Mean < c.Low:
		return Fail, "less than tolerated"
	case m.Mean > c.High:
		return Fail, "more than tolerated"
	}
	return Pass, ""
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

func (c Claim) tolerated() string {
	switch {
	case c.Untestable != "":
		return "-"
	case c.Order:
		return "95 % interval above 0"
	}
	return fmt.Sprintf("%s to %s %s", number(c.Low), number(c.High), c.Unit)
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
