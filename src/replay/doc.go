// Package replay sends a workload to a worker, open-loop, and says what became
// of every request.
//
// Open-loop means that a request is sent at its intended time whether or not
// earlier ones were answered, and that its latency counts from the intended
// time. A server that falls behind therefore shows it in every request that it
// delays; none is left out of the record (no coordinated omission).
//
// Scaled time: Scale multiplies arrivals, executions and memory-independent
// initialisation alike by one factor; the caller multiplies the constants of
// the policy (keep-alive, window) by the same. Predict drives the scheduler's
// engine through the workload in virtual time, and Prediction.Check refuses a
// replay that the machine could not carry.
//
// Invariants: every request of the workload has exactly one Sample, also when
// the replay is cut short; Run has no goroutine left when it returns.
package replay
