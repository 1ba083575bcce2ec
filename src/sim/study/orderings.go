package study

import "github.com/open-lambda/open-lambda/src/sim"

// Claim says that a policy has less of a figure than another one.
type Claim struct {
	Less   string `json:"less"` // policy
	More   string `json:"more"` // policy
	Figure string `json:"figure"`
	Source string `json:"source"`
	// Of is the figure, in percent.
	Of func(*sim.Result) float64 `json:"-"`
}

// Verdict is what a study says about a claim.
type Verdict string

// Verdicts. Seeds are compared in pairs: both policies saw the same requests.
const (
	Holds     Verdict = "holds"     // the 95 % interval of the difference is on the claimed side
	Reversed  Verdict = "reversed"  // it is on the other side
	Undecided Verdict = "undecided" // it contains 0, or there is one seed
)

// Judged is a claim with its verdict.
type Judged struct {
	Claim
	Verdict    Verdict  `json:"verdict"`
	Difference Interval `json:"difference"` // more - less, in percentage points
}

// Policies lists the policies that claims speak of, once each.
func Policies(claims []Claim) []string {
	var all []string
	known := map[string]bool{}
	for _, c := range claims {
		for _, p := range []string{c.More, c.Less} {
			if !known[p] {
				known[p] = true
				all = append(all, p)
			}
		}
	}
	return all
}

// Judge decides claims by the cells of one pool size. A claim about a policy
// that has no cell is left out.
func Judge(claims []Claim, cells []Cell) []Judged {
	find := func(policy string) *Cell {
		for i := range cells {
			if cells[i].Policy == policy {
				return &cells[i]
			}
		}
		return nil
	}
	var all []Judged
	for _, c := range claims {
		less, more := find(c.Less), find(c.More)
		if less == nil || more == nil {
			continue
		}
		differences := make([]float64, len(less.Runs))
		for i := range differences {
			differences[i] = c.Of(more.Runs[i]) - c.Of(less.Runs[i])
		}
		d := NewInterval(differences)
		all = append(all, Judged{c, verdict(d), d})
	}
	return all
}

func verdict(d Interval) Verdict {
	switch {
	case d.N < 2:
		return Undecided
	case d.Mean-d.Half > 0:
		return Holds
	case d.Mean+d.Half < 0:
		return Reversed
	}
	return Undecided
}
