// Package sockmode serves bare sandboxes instead of lambdas (server_mode
// "sock"): whoever calls decides when a sandbox is made, paused and destroyed,
// and nothing is scheduled, queued by lambda, or evicted.
//
// Invariants:
//   - A sandbox is charged its memory limit against mem_pool_mb from before its
//     making until after its removal; a paused one, which cannot grow, is
//     charged what it uses, and gets its limit back before it goes on.
//   - Whoever lacks memory waits in order, for at most queue_timeout_ms.
//   - An id is answered by "there is no sandbox" from its destruction on, and
//     is never given again.
//   - After Close nothing that was made is left.
package sockmode
