// Package catalog gives policies their names: scalers, evictors and the
// presets that combine them, with their parameters, where they come from and
// what they need of a provider.
//
// Invariants: the lists are literal, in the order in which they are shown;
// nothing registers itself; a name and parameters give a fresh policy every
// time, so that two engines share no state; a parameter's documented default
// is the value that it has when it is not given.
package catalog
