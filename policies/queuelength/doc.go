// Package queuelength is the what-if scaler of the CIDRE paper (section 2.4,
// Figs. 5 to 7): up to L requests may wait behind each busy sandbox, and a new
// one is started only when all those queues are full. L = 0 is FaasCache's
// scaling, L = inf (Unlimited) starts nothing while a sandbox is busy.
//
// A request that waits is bound on arrival to the busy sandbox with the
// shortest wait. With one execution time T for a function the wait behind a
// sandbox is queued*T + max(0, T - elapsed), and elapsed only counts between
// queues of the same length; so the order by (queued, begun earliest) is the
// order by wait whatever T is, and no estimate of T is needed.
//
// Invariants: no sandbox has more than L requests queued; a request never
// waits for another sandbox than the one it was bound to, unless that one
// ends. Confidence A: rules in print.
package queuelength
