// Package jetstream keeps what bosses must not lose in NATS JetStream: in this
// process, in a group of three bosses, or in a NATS that runs elsewhere.
//
// Invariants:
//   - A server that no other node needs opens no port: it is reached in-process.
//   - What was acknowledged is in the stores of a majority of the group; with
//     Sync "always" it is on their disks as well.
//   - Buckets are made when they are first reached, so that a boss starts
//     while the majority is missing.
//   - Close leaves no goroutine, connection or port.
package jetstream
