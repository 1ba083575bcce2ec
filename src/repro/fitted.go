package repro

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-lambda/open-lambda/src/trace"
)

// used is a figure of a policy that a claim is about.
type used struct {
	policy, figure string
	gb             float64
}

// calibration returns what a workload was fitted to, nil if to nothing.
func calibration(workload string) *trace.Calibration {
	if !slices.Contains(trace.Generated(), workload) && filepath.Ext(workload) != ".json" {
		return nil // not generated: reading it all would cost
	}
	w, err := FindWorkload(workload)
	if err != nil {
		return nil // whoever simulates it is told
	}
	return w.Source.Calibration
}

// fitted tells whether a workload was calibrated to a figure of a policy: it is
// no prediction then. A fit to CIDRE counts for both forms of it.
func (u used) fitted(c *trace.Calibration) bool {
	return c != nil && c.Fits(strings.TrimSuffix(u.policy, "-literal"), u.figure, u.gb)
}

// fits tells it of a workload by name.
func fits(workload, policy, figure string, gb float64) bool {
	return used{policy, figure, gb}.fitted(calibration(workload))
}

// using says that a claim is about the overhead of policies at 100 GB on a
// workload and nothing else.
func (c Claim) using(workload string, policies ...string) Claim {
	return c.usingAt(workload, trace.Overhead, defaultGB, policies...)
}

// usingAt says that it is about a figure of policies with so many GB and
// nothing else.
func (c Claim) usingAt(workload, figure string, gb float64, policies ...string) Claim {
	c.on = workload
	for _, p := range policies {
		c.uses = append(slices.Clip(c.uses), used{p, figure, gb})
	}
	return c
}

// fitted tells whether all that it is about was fitted.
func (c Claim) fitted() bool {
	if len(c.uses) == 0 {
		return false
	}
	known := calibration(c.on)
	return !slices.ContainsFunc(c.uses, func(u used) bool { return !u.fitted(known) })
}
