// Package hybridhistogram keeps and prewarms by a histogram of each function's
// idle times (Shahrad et al., "Serverless in the Wild", USENIX ATC'20).
//
// The idle time of a function runs from the end of its last request to its
// next arrival. It is counted in 240 bins of one minute; longer ones are out
// of bounds. After the last request of a function ends at t:
//
//	representative: prewarm at t + 0.9 * head, keep until t + 1.1 * tail
//	  head: lower edge of the bin with the 5 % quantile
//	  tail: upper edge of the bin with the 99 % quantile
//	not representative: keep for a fixed time (the range, 4 h), no prewarming
//	mostly out of bounds: forecast x of the next idle time,
//	  prewarm at t + 0.85 x, keep until t + 1.15 x
//
// A histogram is representative when the coefficient of variation of its bin
// counts is at least 2 and it has 10 samples. If head is 0 the sandboxes stay; otherwise they go as soon as they are
// idle and one comes back before the next request is expected.
//
// Confidence A for the histogram; C for the forecast: the paper fits an ARIMA
// model, this package an autoregression of order 1 to the last 16 idle times.
//
// Invariants: pressure evicts the least recently used; a prewarmed start never
// evicts; a function that is busy has no prewarm due. A workload of 30 minutes
// barely exercises the policy: nearly every idle time falls into its first bin.
package hybridhistogram
