// Package cgroup is a small driver for the control groups of sandboxes.
//
// A sandbox needs one group that names its processes, freezes and kills them
// (always on the cgroup v2 tree) and limits on memory, processes and CPU. On a
// full v2 host both live in one directory. On a hybrid host, where the
// controllers are still bound to v1 hierarchies, the driver makes one v2
// directory plus one directory in each v1 hierarchy and hides the difference.
//
// Invariants:
//   - Only directories under openlambda-<instance> are made, changed, or
//     removed; nothing that was there before is touched.
//   - A process enters a group's v2 directory when it is cloned (FD); Attach
//     is needed for the v1 hierarchies only, and a no-op on full v2.
//   - Counters that a group reports start at zero for each user of a reused
//     group: the driver subtracts what was there when the group was taken.
//   - Remove succeeds only when the kernel says that the group is empty.
package cgroup
