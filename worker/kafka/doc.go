// Package kafka invokes lambdas for the messages of their Kafka triggers.
//
// Invariants:
//   - The consumers of a lambda, on whichever workers, are one group,
//     "lambda-NAME": Kafka gives each partition to one of them at a time.
//   - The messages of a partition are handled one after the other, in order; an
//     offset is committed only after the answer to its message. So a message is
//     handled at least once, and again if its consumer dies before the commit.
//   - A message whose handling fails holds up its partition, and no other, until
//     it succeeds; with a bound on attempts it is given up then, and logged.
//   - A rebalance waits for the message that is being handled, and for no pause.
package kafka
