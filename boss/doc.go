// Package boss is one boss of a cluster: the data plane that passes
// invocations to workers, and the control plane that knows workers and lambdas.
//
// Invariants:
//   - All bosses are alike and none leads: an invocation needs the boss that it
//     came to and a worker, nothing else.
//   - What is persisted lives in the store: lambdas, and asynchronous
//     invocations. Workers, load and sandboxes are known from the workers'
//     reports only.
//   - While the store is out of reach invocations go on with what is known,
//     and writes fail at once.
//   - New reserves and Run releases: after Run has returned nothing is left of
//     the boss but what it persisted.
package boss
