// Package lfu evicts from the function that was invoked least often; within
// it the least recently used sandbox goes first.
//
//	Score(F) = requests of F ever
//
// Invariants: the count is the function's, of all revisions, and does not fall
// when a sandbox goes; ties go to the older last use, then to the older
// sandbox. Confidence C: the textbook policy, in the style of the frequency
// half of greedy-dual keep-alive (FaasCache, ASPLOS'21).
package lfu
