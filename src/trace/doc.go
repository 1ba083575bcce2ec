// Package trace reads workloads, models what they lack, and describes them.
//
// A Source is what was read: per-minute rows (the form of Read, Azure Functions
// 2019, InVitro), invocations one by one (Calls, Azure2021), or the parameters
// of a generator (Synthetic). With a seed and a Model of memory and cold start
// it becomes a Workload, which can be streamed any number of times.
//
// Per-minute data lacks moments and execution times. Inside a minute, each
// second gets a log-normal weight with unevenness Sigma, the minute's count is
// dealt to the seconds by a multinomial draw, and an invocation falls anywhere
// in its second. The execution time is drawn from the piecewise-linear inverse
// of the distribution that the percentiles describe.
//
// Invariants: the number of invocations of a function in a minute is exactly
// that of the data; equal rows, options and seeds give equal invocations; the
// draws of a function do not depend on which other functions are present;
// streams are in order of time; a broken row is a *RowError that names its
// place; memory does not grow with the number of invocations of per-minute
// rows and of Calls.
package trace
