// Package nattest makes a host for tests of sandboxes' networks: a network
// namespace that forwards packets, and another behind it that plays the rest of
// the world. The machine's own network is not touched.
//
// Invariant: whatever it makes is gone when the test ends, failed or not.
package nattest
