// Package testregistry holds the lambdas that tests, demos and benchmarks
// install, one directory each, as they would lie in a registry.
//
// Invariant: they need nothing but Python's standard library.
package testregistry
