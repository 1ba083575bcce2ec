// Package cron makes asynchronous invocations of lambdas at the times that
// their cron triggers name.
//
// Invariants:
//   - Every boss makes every tick, and the tick is the same for all: lambda,
//     schedule and moment. Whoever takes them in keeps the first of each, so
//     that there is no leader and no tick depends on one boss.
//   - A tick that cannot be taken in is tried until the next one is due. What a
//     boss slept through is made up for once if it is less than a minute old,
//     else skipped: cron is about moments, not about counts.
//   - The table of triggers follows the registry within a second.
package cron
