// Package indextest is a package index for tests: wheels that the test itself
// makes, served on the loopback interface the way pip asks for them (PEP 503).
//
// Invariants:
//   - A wheel is made of nothing but what the test says, so its bytes are the
//     same every time.
//   - The index counts what was fetched of it, so that a test can tell an
//     installation from none.
package indextest
