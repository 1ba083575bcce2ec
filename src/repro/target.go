package repro

import (
	"fmt"
	"math"
	"slices"

	"github.com/open-lambda/open-lambda/src/trace"
)

// PaperTarget returns what the paper's Fig. 12 states of a policy (as it is named
// here) on one of its samples, azure or fc: the overhead ratio or the cold
// ratio with a cache of so many GB. It fails if the paper does not.
func PaperTarget(sample, policy, figure string, gb float64) (trace.Target, error) {
	t := trace.Target{Policy: policy, Figure: figure, GB: gb}
	file, column := "fig12ac", "avg_overhead_ratio_pct"
	if figure == trace.Cold {
		file, column = "fig12bd", "cold_pct"
	}
	values, err := paper(file)
	if err != nil {
		return t, err
	}
	all := contenders()
	i := slices.IndexFunc(all, func(c contender) bool { return c.policy == policy && c.paper != "" })
	if i >= 0 {
		t.Paper = values.value(column, "workload", sample, "policy", all[i].paper, "memory_gb", text(gb))
	}
	if i < 0 || math.IsNaN(t.Paper) {
		return t, fmt.Errorf("find target: the paper's Fig. 12 has no %s of %s with %v GB on %s", figure, policy, gb, sample)
	}
	return t, nil
}

// PaperPolicies lists the policies of Fig. 12 by their names here.
func PaperPolicies() []string {
	var all []string
	for _, c := range contenders() {
		if c.paper != "" {
			all = append(all, c.policy)
		}
	}
	return all
}
