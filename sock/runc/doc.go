// Package runc makes the same sandboxes as package sock, but as OCI containers
// through runc's libcontainer: the same base root, runtime, limits, filter of
// system calls and unprivileged user, made by code that most of the world's
// containers are made with. There is no zygote and no pool: every sandbox is a
// fresh process, and a start takes several times as long.
//
// libcontainer starts a container by executing its own program again, with C
// code that runs before Go's runtime does. A program that links it needs cgo,
// and any mistake in it would be a mistake in the worker. So it lives in a
// program of its own, ol-runc (package oci), and the worker stays pure Go.
// The worker starts one ol-runc and speaks to it over a socket that the helper
// has as descriptor 3: JSON requests, open files beside them, answers and
// events; protocol.go lists them. libseccomp is not needed: the runtime inside
// installs the worker's own filter before it loads any code of a lambda.
//
// What happens in a start: the worker makes the scratch space, the listening
// socket, the output pipe and a control socket (sock.Guest), and sends them,
// with detached mounts of the lambda's directories, to the helper. The helper
// hangs the mounts in where only it sees them, has libcontainer run python in
// a new container, and takes them off again. Python says that it is there, the
// helper sets the limits (libcontainer's own start needs more threads than a
// lambda may have), and from then on the talk is that of a SOCK sandbox.
//
// Invariants:
//   - A lambda's code runs only after limits, user, capabilities and filter are
//     in force.
//   - Nothing is mounted where the host can see it.
//   - If this process is killed, the kernel kills the helper, which has asked
//     for it, and with it the containers; if only the helper is killed, its
//     sandboxes count as ended and the next start begins another helper. Clean
//     removes the control groups and files that are left.
//   - A sandbox is gone (Destroy has returned nil) only when its processes are
//     reaped and its control groups, mounts and state are removed.
//   - Every goroutine started here ends before Close returns.
package runc
