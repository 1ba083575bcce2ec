package study

import "github.com/open-lambda/open-lambda/src/sim"

// Claim says that a policy has less of a figure than another one.
type Claim struct {
	Less   string `json:"less"` // policy
	More   string `json:"more"` // policy
	Figure string `json:"figure"`
	Source string `json:"source"`
	of     func(*sim.Result) float64
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

// PaperOrder is the order of policies by overhead at 100 GB in the CIDRE
// paper's Fig. 12 (a), from worst to best, in our names. Its TTL counts from
// creation.
func PaperOrder() []string {
	return []string{
		"ttl:ttl-from=lifespan", "lru", "faascache", "ensure", "flame", "icebreaker", "codecrunch", "rainbowcake",
		"cidre-bss", "cidre-literal", "offline",
	}
}

// PaperClaims are the orderings at 100 GB that the paper reports: overhead
// (Fig. 12 a), cold starts (Fig. 12 b), and what each part adds (Fig. 15). The
// paper's CIDRE is checked as the text has it (cidre-literal) and as this
// project runs it (cidre).
func PaperClaims() []Claim {
	overhead := func(r *sim.Result) float64 { return 100 * r.Overhead }
	cold := func(r *sim.Result) float64 { return 100 * r.ColdRatio }
	var all []Claim
	order := PaperOrder()
	for i := 1; i < len(order); i++ {
		all = append(all, Claim{order[i], order[i-1], "overhead", "Fig. 12a", overhead})
	}
	all = append(
		all,
		Claim{"cidre", "cidre-bss", "overhead", "Fig. 12a", overhead},
		Claim{"cidre-literal", "cidre-bss", "cold", "Fig. 12b", cold},
		Claim{"cidre", "cidre-bss", "cold", "Fig. 12b", cold},
		Claim{"cidre-bss", "faascache", "cold", "Fig. 12b", cold},
		Claim{"cip", "faascache", "overhead", "Fig. 15", overhead},
		Claim{"bss", "cip", "overhead", "Fig. 15", overhead},
		Claim{"css-literal", "bss", "overhead", "Fig. 15", overhead},
		Claim{"cidre-literal", "css-literal", "overhead", "Fig. 15", overhead},
	)
	for i := range all { // css alone has no preset for its literal form
		for _, p := range []*string{&all[i].Less, &all[i].More} {
			if *p == "css-literal" {
				*p = "css:scaler=css-literal"
			}
		}
	}
	return all
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
			differences[i] = c.of(more.Runs[i]) - c.of(less.Runs[i])
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
