// Package testbed makes a small network on one machine: hosts that are network
// namespaces, each with an address of its own on a common bridge.
//
// Invariants:
//   - Everything has a name that begins with the network's prefix; nothing else
//     is ever touched.
//   - Partition and heal act on a host's port of the bridge, so that whatever
//     relays are in between, a host that is cut off is cut off.
//   - Up begins with what an earlier run left under the prefix taken down, and
//     Down succeeds however little is there: also after kill -9.
package testbed
