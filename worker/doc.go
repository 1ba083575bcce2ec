// Package worker is one node: it joins the HTTP server, the dispatcher with
// its scheduling engine, the code cache, the registry and the logs.
//
// Invariants:
//   - No globals: several workers can live in one process, with directories
//     and ports of their own.
//   - What a killed predecessor left in worker_dir never keeps a worker from
//     starting.
//   - After Run has returned, nothing of the worker runs: every goroutine and
//     sandbox has ended, its sockets are gone.
package worker
