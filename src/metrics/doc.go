// Package metrics counts what a worker does, for Prometheus and for /stats.
//
// Invariants:
//   - A Metrics has a registry of its own: two workers can live in one process.
//   - Counting an invocation formats no label once its function and status
//     were seen.
//   - The names are those of /metrics and /stats that users build on: they
//     change with a release note only.
package metrics
