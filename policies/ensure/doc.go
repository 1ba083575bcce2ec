// Package ensure scales a function ahead of its load (Suresh et al.,
// "ENSURE", ACSOS'20): as many sandboxes as the offered load needs, and a
// square root of it for the swings.
//
//	R = lambda * E[S],   n = ceil(R + sqrt(R)),   n = 0 below R = 0.01
//
// lambda is the arrival rate, exponentially decayed over 60 s; E[S] the mean
// execution time, exponentially weighted (1/16 for the newest). Every 2 s a
// function with fewer than n sandboxes gets the missing ones if memory is
// free. Requests go to the most recently used sandbox (the engine's default), so that the surplus
// beyond n is not used and goes after 60 s of idleness.
//
// Confidence C: in the style of the paper's FnScale. Its CPU share controller
// and its packing over nodes are not part of one homogeneous pool.
//
// Invariants: prewarming never evicts; a function keeps its n sandboxes past
// their idle time; pressure evicts the least recently used.
package ensure
