package repro

import (
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
)

// pair says that the paper's first contender has less of a value than the
// second, at 100 GB on Azure.
type pair struct {
	less, more contender
	value      string // "overhead" or "cold"
	where      string
}

// of returns the pair's value of a result, in percent.
func (p pair) of(r *sim.Result) float64 {
	if p.value == "cold" {
		return 100 * r.ColdRatio
	}
	return 100 * r.Overhead
}

// chain is the order of Fig. 12 (a) at 100 GB, from worst to best.
func chain() []contender {
	return only("TTL", "LRU", "FaasCache", "ENSURE", "Flame", "IceBreaker", "CodeCrunch", "RainbowCake", "CIDRE_BSS")
}

// chainPairs are its neighbours; CIDRE is compared in both readings.
func chainPairs() []pair {
	var all []pair
	order := chain()
	for i := 1; i < len(order); i++ {
		all = append(all, pair{order[i], order[i-1], "overhead", "Fig. 12a"})
	}
	for _, c := range readings() {
		all = append(all, pair{c, order[len(order)-1], "overhead", "Fig. 12a"}, pair{only("Offline")[0], c, "overhead", "Fig. 12a"})
	}
	return all
}

// coldPairs are orders of Fig. 12 (b).
func coldPairs() []pair {
	bss := only("CIDRE_BSS")[0]
	all := []pair{{bss, only("FaasCache")[0], "cold", "Fig. 12b"}}
	for _, c := range readings() {
		all = append(all, pair{c, bss, "cold", "Fig. 12b"})
	}
	return all
}

// ablationPairs are the steps of Fig. 15.
func ablationPairs() []pair {
	at := map[string]contender{}
	for _, c := range ablation() {
		at[c.name] = c
	}
	step := func(less, more string) pair { return pair{at[less], at[more], "overhead", "Fig. 15"} }
	return []pair{
		step("CIP", "FaasCache"), step("BSS", "CIP"), step("CSS", "BSS"), step("CIDRE", "CSS"),
		step("CSS literal", "BSS"), step("CIDRE literal", "CSS literal"),
	}
}

// Orderings are the orders at 100 GB that the paper reports: overhead
// (Fig. 12 a), cold starts (Fig. 12 b), and what each part adds (Fig. 15), for
// study.Judge.
func Orderings() []study.Claim {
	var all []study.Claim
	for _, pairs := range [][]pair{chainPairs(), coldPairs(), ablationPairs()} {
		for _, p := range pairs {
			all = append(all, study.Claim{Less: p.less.policy, More: p.more.policy, Figure: p.value, Source: p.where, Of: p.of})
		}
	}
	return all
}

// claim is the pair as a claim of its figure.
func (p pair) claim(s Scene, where string) Claim {
	value := overhead
	what := " is below "
	if p.value == "cold" {
		value, what = cold, " has fewer cold starts than "
	}
	return order(where, p.less.name+what+p.more.name+" at 100 GB", "points",
		less(p.less.at(s, s.Azure, defaultGB), p.more.at(s, s.Azure, defaultGB), value))
}
