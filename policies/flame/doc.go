// Package flame evicts from the coldest function: the one with the lowest
// recent rate of arrivals; within it the least recently used sandbox goes
// first. It uses the skew of a workload, where few functions get most of the
// requests.
//
//	Score(F) = sum over arrivals of e^(-age/tau),  tau = 5 min
//
// Invariants: the order of two functions does not change while neither gets a
// request (forward decay), so a heap of scores stays exact; a function's
// score is not lowered by evictions. Confidence C: in the style of Flame
// (Yang et al., ASPLOS'23), whose central cache manager, several nodes and
// hot-spot placement one pool does not need.
package flame
