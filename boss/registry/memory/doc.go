// Package memory is a store of lambdas that lives in this process: for tests,
// and for measuring a boss without its store.
//
// Invariants: it behaves as package registry asks of a store; several
// registries may share one, as bosses share theirs; it can be taken away and
// given back.
package memory
