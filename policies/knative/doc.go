// Package knative is the concurrency autoscaler of Knative Serving, with the
// settings that Dirigent (SOSP'24) runs it with: stable window 60 s, panic
// window 6 s, a decision every 2 s, panic threshold 200 %, target concurrency
// 1, scale-up rate 1000, scale-down rate 2.
//
// With S and P the mean concurrency (requests that wait or run) over the
// stable and the panic window, r the ready sandboxes, at least 1:
//
//	stable = clamp(ceil(S / target), floor(r / 2), ceil(1000 r))
//	panic  = clamp(ceil(P / target), floor(r / 2), ceil(1000 r))
//	a panic begins when ceil(P / target) / r >= 2, and ends when that was not
//	so for a stable window
//	desired = stable; in a panic the largest of stable and panic since it began
//
// Missing sandboxes are started if memory is free; idle ones beyond desired
// are destroyed at the decision. Two scalers go with it. The preset knative
// binds a request that finds nobody to a start of its own, as all keep-alive
// baselines do. The preset knative-queue does as Knative does: requests queue
// in the activator, whoever is free takes the head, and only the autoscaler
// starts sandboxes, except the first one of a function. Its starts may evict,
// and what they serve counts as delayed, not cold: nobody asked for them.
//
// Confidence A: the published formulas.
//
// Invariants: the windows are exact integrals of the concurrency in whole
// nanoseconds, not samples; sandboxes never go during a panic; pressure evicts
// the least recently used.
package knative
