// Package firstcreated picks the available sandbox that was created first, as
// the keep-alive lesson and the simulator of FaasCache do.
//
// Invariant: no state; a pick takes time in proportion to the function's
// available sandboxes, so it is for models, not for a busy node.
package firstcreated
