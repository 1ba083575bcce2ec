// Package study runs many simulations that belong together: every policy with
// every pool size over several seeds, in parallel, and sums them up with
// confidence intervals.
//
// Invariants: the order of results is that of the plan, not of completion; a
// run shares no state with another one; whoever calls Run gets the results of
// all runs or an error, never some of them.
package study
