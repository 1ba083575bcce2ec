package sock

// FaultPoint is a step that the kernel may refuse to a host that has run out of
// something.
type FaultPoint string

// Where a sandbox, made or being made, can be made to fail.
const (
	FaultCgroup  FaultPoint = "cgroup"  // a control group is made or written to
	FaultScratch FaultPoint = "scratch" // the scratch file system is made
	FaultNetwork FaultPoint = "network" // a network namespace is made
	FaultControl FaultPoint = "control" // pipes and sockets of the child are opened
	FaultFork    FaultPoint = "fork"    // a process is started: a fresh sandbox, the root zygote, a container
	FaultZygote  FaultPoint = "zygote"  // a zygote forks
	FaultMount   FaultPoint = "mount"   // code and packages are mounted
	FaultFreeze  FaultPoint = "freeze"  // a sandbox is frozen or thawed
	FaultDial    FaultPoint = "dial"    // a connection to a sandbox is opened
)

// FaultAt is the error that a test wants a step to end with, nil otherwise.
func (c *Config) FaultAt(at FaultPoint) error {
	if c.Fault == nil {
		return nil
	}
	return c.Fault(at)
}
