package sock

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// Exit is how a sandbox's first process ended.
type Exit struct {
	Signalled bool // by a signal; else it exited
	Status    int  // the signal, or the exit code
}

// String says it in words. Codes of 128 and a signal are what the runtime and
// shells make of a signal that the first process of a namespace cannot die of.
func (e Exit) String() string {
	if e.Signalled {
		return "signal: " + unix.Signal(e.Status).String()
	}
	if e.Status > 128 && e.Status <= 128+31 {
		return "signal: " + unix.Signal(e.Status-128).String()
	}
	return fmt.Sprintf("exit code %d", e.Status)
}

// Code is the exit code, 0 if there was none.
func (e Exit) Code() int {
	if e.Signalled {
		return 0
	}
	return e.Status
}

// Reason is String, or "out of memory" for a process that the kernel killed
// because the memory of its control group ran out.
func (e Exit) Reason(g *cgroup.Group) string {
	if kills, err := g.OOMKills(); err == nil && kills > 0 && e.Signalled && e.Status == int(unix.SIGKILL) {
		return "out of memory"
	}
	return e.String()
}
