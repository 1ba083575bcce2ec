// Package catalog gives policies their names: scalers, evictors and the
// presets that combine them.
//
// Invariants: the lists are literal, in the order in which they are shown;
// nothing registers itself; a name and parameters give a fresh policy every
// time, so that two engines share no state.
package catalog
