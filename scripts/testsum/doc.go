// Command testsum turns the event stream of `go test -json` into what a person
// wants at the end of a test run: go test's own line for every package, the
// output of what failed, every skipped test with its reason, and one line that
// counts. It exits non-zero when anything failed, a build included.
//
// Invariant: every top-level test and subtest that ended is counted once.
package main
