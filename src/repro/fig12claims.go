package repro

import (
	"fmt"
	"slices"

	"github.com/open-lambda/open-lambda/src/trace"
)

// measure computes a value from one seed.
type measure = func(d *Data, seed uint64) float64

// at returns a contender's point at a size.
func (c contender) at(s Scene, workload string, gb float64) Point {
	return s.at(workload, c.policy, gb)
}

// overSizes makes a measure for each cache size.
func overSizes(of func(gb float64) measure) []measure {
	var all []measure
	for _, gb := range sizes() {
		all = append(all, of(gb))
	}
	return all
}

// on says which workload a claim is about.
func on(s Scene, workload string) string {
	if workload == s.Azure {
		return " (Azure)"
	}
	return " (FC)"
}

// overheadClaims are those of (a) and (c) that hold for both workloads.
func overheadClaims(s Scene, workload, where string) []Claim {
	baselines, bss, suffix := chain()[:len(chain())-1], only("CIDRE_BSS")[0], on(s, workload)
	all := []Claim{
		order(where, "CIDRE_BSS is below every baseline at every size"+suffix, "points", least(below(s, workload, bss, baselines)...)),
		order("section 5.1", "RainbowCake is below FaasCache and LRU at every size"+suffix, "points",
			least(below(s, workload, only("RainbowCake")[0], only("FaasCache", "LRU"))...)),
	}
	for _, c := range readings() {
		vs := func(gb float64) measure {
			return reduction(c.at(s, workload, gb), bss.at(s, workload, gb), overhead)
		}
		all = append(
			all,
			order(where, c.name+" is below every baseline at every size"+suffix, "points", least(below(s, workload, c, baselines)...)),
			order(where, c.name+" is below CIDRE_BSS at every size"+suffix, "%", least(overSizes(vs)...)),
			order(where, "Offline is below "+c.name+" at every size"+suffix, "points", least(below(s, workload, only("Offline")[0], []contender{c})...)),
			apart("section 5.1", "at the size where it gains least, "+c.name+" is 7.5 % below CIDRE_BSS"+suffix, 7.5, least(overSizes(vs)...)),
			apart("section 5.1", "at the size where it gains most, "+c.name+" is 17.6 % below CIDRE_BSS"+suffix, 17.6, most(overSizes(vs)...)),
		)
	}
	return all
}

// chainClaims are the orders of neighbours at 100 GB.
func chainClaims(s Scene) []Claim {
	var all []Claim
	for _, p := range chainPairs() {
		all = append(all, p.claim(s, "Fig. 12 (a)").using(s.Azure, p.less.policy, p.more.policy))
	}
	return all
}

// below returns by how much a contender is below others, at each size.
func below(s Scene, workload string, a contender, others []contender) []measure {
	var all []measure
	for _, b := range others {
		all = append(all, overSizes(func(gb float64) measure {
			return less(a.at(s, workload, gb), b.at(s, workload, gb), overhead)
		})...)
	}
	return all
}

// azureClaims are the numbers that the text names. Its "up to" is the largest of the
// sizes, and is judged as that.
func azureClaims(s Scene) []Claim {
	var all []Claim
	for _, c := range readings() {
		upTo := func(text, than string, value float64) {
			b := only(than)[0]
			all = append(all, apart("section 5.1", "at the size where it gains most, "+c.name+" is "+text+" below "+than, value, most(overSizes(func(gb float64) measure {
				return reduction(c.at(s, s.Azure, gb), b.at(s, s.Azure, gb), overhead)
			})...)))
		}
		upTo("43.8 %", "FaasCache", 43.8)
		upTo("47.0 %", "LRU", 47.0)
		upTo("33.7 %", "RainbowCake", 33.7)
		upTo("38.8 %", "ENSURE", 38.8)
		at := func(gb float64, text, than string, value float64, where string) {
			b := only(than)[0]
			claim := apart(where, fmt.Sprintf("%s is %s below %s at %v GB", c.name, text, than, gb), value,
				reduction(c.at(s, s.Azure, gb), b.at(s, s.Azure, gb), overhead))
			all = append(all, claim.usingAt(s.Azure, trace.Overhead, gb, c.policy, b.policy))
		}
		at(100, "36.3 %", "IceBreaker", 36.3, "section 5.1")
		at(100, "34.8 %", "CodeCrunch", 34.8, "section 5.1")
		at(80, "39.3 %", "FaasCache", 39.3, "abstract")
	}
	return all
}

// kindClaims are those of (b) and (d).
func kindClaims(s Scene, workload, where string) []Claim {
	faas, bss, ice := only("FaasCache")[0], only("CIDRE_BSS")[0], only("IceBreaker")[0]
	vs := func(a, b contender, value func(*Measured) float64) measure {
		return least(overSizes(func(gb float64) measure { return less(a.at(s, workload, gb), b.at(s, workload, gb), value) })...)
	}
	all := []Claim{
		order(where, "CIDRE_BSS has fewer cold starts than FaasCache at every size"+on(s, workload), "points", vs(bss, faas, cold)),
		order(where, "CIDRE_BSS has fewer cold starts than IceBreaker at every size"+on(s, workload), "points", vs(bss, ice, cold)),
	}
	for _, c := range readings() {
		if workload == s.Azure {
			all = append(all, apart("section 5.1", c.name+" reduces FaasCache's cold ratio by 75.1 % at 100 GB", 75.1,
				reduction(c.at(s, workload, defaultGB), faas.at(s, workload, defaultGB), cold)).usingAt(s.Azure, trace.Cold, defaultGB, c.policy, faas.policy))
		}
		all = append(
			all,
			order(where, c.name+" has fewer cold starts than CIDRE_BSS at every size"+on(s, workload), "points", vs(c, bss, cold)),
			order("section 5.1", c.name+" has fewer cold starts than FaasCache at every size"+on(s, workload), "points", vs(c, faas, cold)),
			order("section 5.1", c.name+" has fewer cold starts than IceBreaker at every size"+on(s, workload), "points", vs(c, ice, cold)),
			order(where, c.name+" has more warm starts than CIDRE_BSS at every size"+on(s, workload), "points", vs(bss, c, warm)),
		)
	}
	return slices.Clip(all)
}
