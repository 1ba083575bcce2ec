// Package logs keeps what lambdas print, one file for each function.
//
// Invariants:
//   - A function's files never take more than the configured size: the file
//     and one older one.
//   - Writing never fails towards the lambda and never waits for more than
//     the disk: what comes faster than the rate, or the disk does not take, is
//     dropped and counted, and the log says so.
//   - A line has its time and the request that printed it.
//   - A file is open while there are sandboxes of its function.
package logs
