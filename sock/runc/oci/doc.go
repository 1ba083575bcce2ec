// Package oci is the program ol-runc: the side of sock/runc that links
// libcontainer. It makes, pauses and removes containers as it is told over the
// socket that it was started with, and decides nothing.
//
// Invariants:
//   - It runs in a mount namespace of its own, and refuses to work in its
//     parent's: what it mounts must never be seen, or removed, by the host.
//   - Containers are started by a few threads that live as long as the process.
//     The kernel kills a container with the thread that started it, and
//     libcontainer ends threads that it has moved to other namespaces.
//   - Requests about one container are carried out one after the other; a
//     request about a container that is not there changes nothing.
//   - When the socket ends, every container is killed and removed before Serve
//     returns.
//   - Every goroutine started here ends before Serve returns.
package oci
