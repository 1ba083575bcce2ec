package sock

// FaultPoint is a step of a start that the kernel may refuse to a host that
// has run out of something.
type FaultPoint string

// Where a start can be made to fail.
const (
	FaultCgroup  FaultPoint = "cgroup"  // a control group is made or written to
	FaultScratch FaultPoint = "scratch" // the scratch file system is made
	FaultControl FaultPoint = "control" // pipes and sockets of the child are opened
	FaultFork    FaultPoint = "fork"    // the process of a fresh sandbox is started
	FaultMount   FaultPoint = "mount"   // code and packages are mounted
)

// FaultPoints lists all of them.
func FaultPoints() []FaultPoint {
	return []FaultPoint{FaultCgroup, FaultScratch, FaultControl, FaultFork, FaultMount}
}

// faultAt is the error that a test wants a step to end with, nil otherwise.
func (p *Provider) faultAt(at FaultPoint) error {
	if p.cfg.Fault == nil {
		return nil
	}
	return p.cfg.Fault(at)
}
