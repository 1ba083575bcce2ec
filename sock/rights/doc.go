// Package rights carries messages between two processes of one host over a
// unix socket: a JSON object behind its length as four bytes, most significant
// first, with open files beside the first byte.
//
// Invariants:
//   - A message is whole or an error; what a peer sends cannot make the reader
//     allocate more than maxMessage bytes or take more files than it asked for.
//   - Files that come with a message which cannot be read are closed.
//   - Sending and receiving may go on at the same time, but one sender and one
//     receiver at a time.
package rights
