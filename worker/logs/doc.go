// Package logs keeps what lambdas print, one file for each function.
//
// Invariants:
//   - A function's files never take more than the configured size: the file
//     and one older one.
//   - Writing never fails towards the lambda and never waits for more than
//     the disk: what comes faster than the rate is dropped and counted.
//   - A line is written whole, with its time and the request that printed it.
package logs
