// Package fit calibrates the parameters of a generated workload to figures that a
// paper states, by simulation.
//
// The search is Nelder and Mead's (1965) over the free parameters, each scaled to its
// range. Its measure is the mean square of the distances to the targets in
// percentage points, with a slight pull to where it began, so that a parameter that no
// target speaks of stays there. Every evaluation uses the same seeds (common random
// numbers) on the first minutes of the workload; what was found is measured on the
// whole of it.
//
// Invariants: equal plans give equal results, whatever the machine, unless a limit of
// time ends them; a plan that goes on from its log does what it would have done
// without the interruption; what a fit was told to aim at is in its result.
package fit
