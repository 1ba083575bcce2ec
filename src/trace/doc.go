// Package trace reads workloads and expands them into invocations.
//
// The form read here has one row per function: memory, percentiles of the
// execution time, and how many invocations each minute had. Expand models what
// such data lacks. Inside a minute, each second gets a log-normal weight with
// unevenness Sigma, the minute's count is dealt to the seconds by a
// multinomial draw, and an invocation falls anywhere in its second. The
// execution time is drawn from the piecewise-linear inverse of the
// distribution that the percentiles describe.
//
// Invariants: the number of invocations of a function in a minute is exactly
// that of the data; equal rows, options and seeds give equal invocations; the
// draws of a function do not depend on which other functions are present.
package trace
