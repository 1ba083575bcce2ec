// Package icebreaker prewarms by a forecast of each function's concurrency
// (Roy et al., "IceBreaker", ASPLOS'22), on a homogeneous pool.
//
// Every minute the peak concurrency of the minute joins the function's
// history (at most 120 minutes, n so far), and the next minute is forecast:
//
//	y'(n) = quadratic trend by least squares, one step ahead
//	      + the 10 strongest harmonics of the residual, one step ahead
//
// (a transform takes the history to repeat, so a period that does not divide n
// is forecast badly), clamped to 0 and the peak of the history, rounded to the nearest integer; with
// less than 4 minutes it is the last one. The harmonics are those of the
// discrete Fourier transform, computed directly (n/2 * n multiplications, 7,200
// at most, with a table of sines): at 120 points it costs less than what a
// fast transform saves. A function without requests in its history costs
// nothing.
//
// The forecast is acted upon if the function's utility reaches a threshold:
//
//	U = (S + C + M) / 3
//	S = cold / (cold + execution), means: the time a warm start saves
//	C = 1 - prewarmed sandboxes evicted unused / prewarmed sandboxes
//	M = 1 - MB / MB of the largest function seen: small ones are cheap to keep
//
// Sandboxes beyond the forecast go at the end of the function's minute. The
// minutes of the functions are staggered over 60 s so that a second has a
// sixtieth of the work. Confidence B: the forecast is in print; the exact
// weights of the score are ours, and the paper's two thresholds, which choose
// between cheap and fast machines, become one.
//
// Invariants: prewarming never evicts; pressure evicts the least recently used.
package icebreaker
