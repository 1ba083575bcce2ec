// Package sock makes SOCK sandboxes: lean Linux containers that run one lambda
// each, forked from Python zygotes where possible.
//
// A base root is assembled once, in a mount namespace that only one thread of
// the worker (the spawner) lives in: nothing is ever mounted where the host
// can see it, so nothing of it outlives the worker. Every process of ours is
// cloned from that namespace into new user, mount, pid, ipc and uts namespaces,
// a network namespace unless it has the host's, and straight into its cgroup. Directories of the host reach it as detached
// mounts sent over a control socket.
//
// A sandbox comes from one of three origins, best first:
//
//	pool    a child that was forked ahead, has its namespaces and cgroup, has
//	        answered a dummy request and waits to be told what to become
//	zygote  a child forked now from a process that has imported the runtime
//	fresh   python3 started now
//
// User ids: a worker claims a block that no other on the host has (package ids).
// Zygotes live in a user namespace, the realm, in which the block is mapped and
// nothing else; each sandbox lives in one below, or beside it if it is started
// afresh, in which only its own slice is mapped. Where the kernel gives no user
// namespaces, zygotes are the host's root with a few capabilities, and a sandbox
// has one id of its slice.
//
// Networks: see package nat. Its namespaces belong to the realm, so that a
// zygote can step into one to fork there.
//
// Invariants:
//   - Each sandbox has a process that is pid 1 of its own pid namespace and a
//     child of this process, whichever its origin: a zygote's death harms no
//     sandbox. If this process is killed, the kernel kills all of them, for
//     each has asked for it (PR_SET_PDEATHSIG), and Clean removes what is left.
//   - With user namespaces, nothing but this program and the runtime's own code
//     ever runs with power over the host: modules are imported in the realm.
//   - A lambda's code runs only after the process has given up every
//     privilege: own uid, no capability, no_new_privs, seccomp filter.
//   - A sandbox is gone (Destroy has returned nil) only when the kernel has
//     reaped its processes and its cgroup is removed or clean for reuse.
//   - Every goroutine started here ends before Close returns.
package sock
