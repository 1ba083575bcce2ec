// Package nat gives sandboxes a network of their own that leads out under the
// host's address and to nothing of the host, or (Alone) one that leads nowhere.
//
// Each sandbox gets a network namespace with loopback and one end of a veth
// pair; the other end is in the host's namespace, named "ollb", six digits that
// stand for the worker, a dash and a number. One nftables table for each
// worker, "openlambda-" and the worker's name, decides what passes: packets
// from a sandbox are forwarded and masqueraded unless they are for the host
// itself, for another sandbox of any worker, or for an address that is no
// business of a lambda's (loopback, link-local with the metadata services of
// clouds, multicast, what Config denies). Only IPv4 passes.
//
// Namespaces are made ahead and used again, because making one and taking it
// down costs the kernel more than a cold start.
//
// Invariants:
//   - Nothing of the host that was there is changed: no rule, address, route
//     or setting. Forwarding (net.ipv4.ip_forward) must be on already; Check
//     says so otherwise.
//   - A namespace is lent to one sandbox at a time, and to the next only after
//     the flows of the last are forgotten.
//   - One that leads nowhere is lent to the next only if nothing was ever sent in
//     it.
//   - Links and table are removed by Close, and after a kill by Clean; the
//     kernel removes the links of a killed worker by itself when its sandboxes
//     and it are gone.
package nat
