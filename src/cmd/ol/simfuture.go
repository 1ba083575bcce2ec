package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
)

// clairvoyant compares those who know the future with those who do not, for
// one pool size. The paper's Offline is greedy, not a bound: that others beat
// it is news worth a line, not an error.
type clairvoyant struct {
	PoolMB  int64    `json:"pool_mb"`
	Best    string   `json:"best"`              // the clairvoyant policy with the least overhead
	Percent float64  `json:"overhead_pct"`      // of it
	Beat    []string `json:"online_below_best"` // online policies with less overhead than the best
	Offline []string `json:"online_below_offline"`
}

func overheadOf(c *study.Cell) float64 {
	return 100 * c.Over(func(r *sim.Result) float64 { return r.Overhead }).Mean
}

// clairvoyants makes a line for each pool size, none if no policy that was
// simulated knows the future.
func clairvoyants(policies []study.Policy, cells []study.Cell) []clairvoyant {
	var all []clairvoyant
	for begin := 0; begin < len(cells); begin += len(policies) {
		group := cells[begin : begin+len(policies)]
		c, ok := bestClairvoyant(policies, group)
		if !ok {
			return nil
		}
		for i := range group {
			if policies[i].Future {
				continue
			}
			if overheadOf(&group[i]) < c.Percent {
				c.Beat = append(c.Beat, group[i].Policy)
			}
			k := slices.IndexFunc(policies, func(p study.Policy) bool { return p.Label == "offline" })
			if k >= 0 && overheadOf(&group[i]) < overheadOf(&group[k]) {
				c.Offline = append(c.Offline, group[i].Policy)
			}
		}
		all = append(all, c)
	}
	return all
}

func bestClairvoyant(policies []study.Policy, group []study.Cell) (clairvoyant, bool) {
	c, ok := clairvoyant{}, false
	for i := range group {
		if o := overheadOf(&group[i]); policies[i].Future && (!ok || o < c.Percent) {
			c, ok = clairvoyant{PoolMB: group[i].PoolMB, Best: group[i].Policy, Percent: o}, true
		}
	}
	return c, ok
}

func printClairvoyants(s streams, all []clairvoyant) {
	for _, c := range all {
		line := fmt.Sprintf("%v GB: best clairvoyant is %s with %.2f %% overhead", float64(c.PoolMB)/mbPerGB, c.Best, c.Percent)
		if len(c.Offline) > 0 {
			line += "; below the paper's offline without knowing the future: " + strings.Join(c.Offline, ", ")
		}
		if len(c.Beat) > 0 {
			line += "; below the best clairvoyant: " + strings.Join(c.Beat, ", ")
		}
		s.prose("%s", line)
	}
}
