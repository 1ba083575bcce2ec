// Package codecrunch chooses per function how long idle sandboxes are kept
// and whether they are compressed meanwhile, within a budget of memory and time
// (Basu Roy et al., "CodeCrunch", ASPLOS'24), on a homogeneous pool.
//
// For each function the gaps between its arrivals are counted in bins. An
// option is a keep-alive T of 1, 2, 5, 10, 20 or 40 minutes, full or
// compressed, and is worth and costs per gap
//
//	value = P(gap <= T) * (cold - restore)      restore: 0 if full
//	cost  = MB * E[min(gap, T)]                  MB * ratio if compressed
//
// Every minute the options of all functions are taken in the order of
// value/cost, each replacing the function's last one if it is worth more, while
// the budget lasts: share * pool * 1 minute against cost * gaps per minute.
// That is the greedy answer to a multiple-choice knapsack. A function with
// fewer than 3 gaps gets 10 minutes, full, outside the budget.
//
// Confidence B/C: the goal and the two decisions are the paper's; its
// optimiser (sequential random embedding) and its two processor types are
// not, and ratio and restore time are configuration.
//
// Invariants: only idle sandboxes are compressed, only their own function
// reuses them; pressure evicts the least recently used. A mechanism that cannot
// compress says so, and the sandbox stays full; ratio 1 asks for nothing.
package codecrunch
