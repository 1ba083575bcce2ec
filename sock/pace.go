package sock

import "time"

// What is read of a sandbox's output: reading costs the worker and not the
// sandbox, so a flood is slowed down, and with it the lambda, once the pipe is
// full. Logs keep far less.
const (
	paceRate  = 16 << 20             // bytes a second in the long run
	paceBurst = 4 << 20              // bytes at once
	paceStep  = 5 * time.Millisecond // shortest pause: many short ones would cost as much as reading
)

// pace is a bucket of bytes that may be read.
type pace struct {
	left int64 // below zero: read already, and to be waited for
	at   time.Time
}

func newPace(now time.Time) pace { return pace{left: paceBurst, at: now} }

// after tells how long to wait after having read n bytes.
func (p *pace) after(now time.Time, n int) time.Duration {
	gone := min(now.Sub(p.at), time.Second)
	p.left = min(paceBurst, p.left+int64(gone)*paceRate/int64(time.Second)) - int64(n)
	p.at = now
	wait := time.Duration(-p.left) * time.Second / paceRate
	if wait < paceStep {
		return 0
	}
	return wait
}
