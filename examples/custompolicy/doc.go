// Package custompolicy shows how to write a scheduling policy: an evictor and a
// scaler in one short file each, against the interfaces of package policies.
//
// The simulator and the worker run them without a change:
// policies/catalog/custom.go names them. See docs/custom-policies.md.
//
// Invariant: like every policy they are pure: they see a View, they keep what
// they are told, they read no clock and allocate nothing per decision.
package custompolicy
