// Package coldstart is the scaler of every keep-alive baseline: a request
// that finds nobody available gets a cold start, and is bound to it.
//
// Invariant: one start per blocked request, no delayed warm starts except for
// a request whose start lacks memory (CIDRE, ASPLOS'25, section 2.3: the
// caching-based keep-alive that the paper compares with).
package coldstart
