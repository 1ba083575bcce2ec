// Package ids hands out user and group ids that nobody else on the host has.
//
// A host has one range of ids for all its workers: what /etc/subuid and
// /etc/subgid grant to the user "openlambda", or else 1879048192 to 2145386495,
// which systemd's overview of ids (systemd.io/UIDS-GIDS) lists as used by
// nobody. The range is cut into blocks; a worker claims one block for as long
// as it lives, and gives each sandbox a slice of it.
//
// Invariants:
//   - No two processes of a host hold one block; the kernel gives a killed
//     process' block back.
//   - No two slices that are in use overlap.
package ids
