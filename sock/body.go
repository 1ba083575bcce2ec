package sock

import "fmt"

// Process is the first process of a sandbox.
type Process interface {
	// Kill ends it, and with it everything in its pid namespace.
	Kill()
	// Ended is closed when it is gone.
	Ended() <-chan struct{}
	// Inspect tells Origin, Detail and, once it is gone, ExitCode and
	// ExitText.
	Inspect() Info
}

// Body is the mechanism under a Sandbox.
type Body interface {
	Process
	// Freeze stops everything in the sandbox or lets it go on, and returns
	// when the kernel has done it.
	Freeze(frozen bool) error
	// MemBytes is what is charged to the sandbox now, 0 if unknown.
	MemBytes() int64
	// Remove takes back what a body holds that has ended. It is called once.
	Remove()
}

// body is a child under a Sandbox.
type body struct {
	p *Provider
	*child
}

// Kill implements Process.
func (b body) Kill() { b.proc.kill() }

// Ended implements Process.
func (b body) Ended() <-chan struct{} { return b.proc.done }

// Inspect implements Process.
func (b body) Inspect() Info {
	info := Info{
		Origin: b.origin, Zygote: b.zygote,
		Detail: fmt.Sprintf("pid %d, %s, network %s, cgroup %s", b.proc.pid, b.p.users.describeOne(b.place.ids), b.network, b.group.Path()),
	}
	select {
	case <-b.proc.done:
		info.ExitText, info.ExitCode = exitReason(b.proc, b.group), b.proc.exit().Code()
	default:
	}
	return info
}

// MemBytes implements Body.
func (b body) MemBytes() int64 {
	mem, err := b.group.Memory()
	if err != nil {
		return 0
	}
	return mem
}

// Freeze implements Body.
func (b body) Freeze(frozen bool) error { return b.group.Freeze(frozen) }

// Remove implements Body.
func (b body) Remove() {
	b.drain()
	b.p.giveBack(b.child)
}
