// Package testregistry holds the lambdas that tests, demos and benchmarks
// install, one directory each, as they would lie in a registry.
//
// Invariants: those that Lambda returns are complete in their directory; what a
// lambda imports beyond Python's standard library is in a layer of the base image.
package testregistry
