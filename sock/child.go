package sock

import (
	"context"
	"os"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/cgroup"
	"github.com/open-lambda/open-lambda/sock/nat"
)

// namespaces of a sandbox that is started afresh; the zygote has its own list.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWPID

// child is a process on the way to a sandbox: in its namespaces and cgroup,
// not yet told what to become.
type child struct {
	*Guest
	proc    *process
	group   *cgroup.Group
	users   *os.File // its user namespace until it has become a lambda; nil without
	origin  string
	network string     // NetworkHost, NetworkNone or NetworkNAT
	lease   *nat.Lease // of its network namespace; nil if it has the host's or makes one
	zygote  string     // of the tree, by its recipe; "" is the root, or none
	wish    *recipe    // of a zygote that would have been better; nil: none
}

// newChild prepares everything but the process.
func (p *Provider) newChild(origin, network string) (_ *child, _ childEnds, err error) {
	var u undo
	defer u.run()
	if err := p.cfg.FaultAt(FaultCgroup); err != nil {
		return nil, childEnds{}, err
	}
	group, err := p.takeGroup()
	if err != nil {
		return nil, childEnds{}, err
	}
	u.add(func() { p.returnGroup(group) })
	if err := p.cfg.FaultAt(FaultScratch); err != nil {
		return nil, childEnds{}, err
	}
	pl, err := newPlace(p.users, p.cfg.TmpMB)
	if err != nil {
		return nil, childEnds{}, err
	}
	u.add(func() { pl.close(); p.users.slices.Put(pl.ids) })
	if err := p.cfg.FaultAt(FaultNetwork); err != nil {
		return nil, childEnds{}, err
	}
	lease, err := p.lend(network)
	if err != nil {
		return nil, childEnds{}, err
	}
	u.add(func() { p.takeBack(network, lease) })
	if err := p.cfg.FaultAt(FaultControl); err != nil {
		return nil, childEnds{}, err
	}
	guest, ends, err := newGuest(pl, &p.wg, p.log)
	if err != nil {
		return nil, childEnds{}, err
	}
	u.release()
	return &child{Guest: guest, group: group, origin: origin, network: network, lease: lease}, ends, nil
}

// startFresh starts a python of its own for the child.
func (p *Provider) startFresh(network string) (*child, error) {
	c, ends, err := p.newChild(Fresh, network)
	if err != nil {
		return nil, err
	}
	defer ends.close()
	flags := uintptr(namespaces)
	if c.ownNetwork() {
		flags |= unix.CLONE_NEWNET
	}
	if err := p.cfg.FaultAt(FaultFork); err != nil {
		p.discard(c)
		return nil, err
	}
	pid, pidfd, err := p.spawner.start(spawnJob{
		args:    []string{"-I", "-B", "-c", "import sys; sys.path.insert(0, '/runtime'); from olrt import child; child.main()"},
		files:   []*os.File{p.null, ends.output, ends.output, ends.control},
		flags:   flags,
		cgroup:  c.group.File(),
		ids:     p.mappingOf(c.place.ids),
		network: c.namespace(),
	})
	if err != nil {
		p.discard(c)
		return nil, err
	}
	return c, p.adopt(c, pid, pidfd)
}

// ownNetwork tells whether a child is born in a network namespace that is made
// with it.
func (c *child) ownNetwork() bool { return c.network == NetworkNone && c.lease == nil }

// namespace is the network namespace that was lent to the child, nil if none
// was.
func (c *child) namespace() *os.File {
	if c.lease == nil {
		return nil
	}
	return c.lease.File()
}

// adopt takes over the process that was made for a child and tells it to
// settle. On failure the child is gone.
func (p *Provider) adopt(c *child, pid, pidfd int) error {
	proc, err := newProcess(pid, pidfd, &p.wg)
	if err == nil {
		c.proc = proc
		err = c.group.Attach(pid)
	}
	if err == nil && p.users.realm != nil {
		c.users, err = userNamespaceOf(pid)
	}
	if err == nil {
		err = p.settle(c)
	}
	if err != nil {
		p.discard(c)
		return err
	}
	return nil
}

// discard kills a child and gives back what it holds.
func (p *Provider) discard(c *child) {
	c.control.close()
	if c.proc != nil {
		c.proc.kill()
		<-c.proc.done
	}
	c.output.close()
	p.giveBack(c)
}

// giveBack returns what a child held that is dead and reaped. Its scratch space
// goes first, for the group is as good as new only when nothing is charged to
// it; its user ids last, when no process can have it any more.
func (p *Provider) giveBack(c *child) {
	c.releaseUsers()
	c.calls.close()
	c.place.close()
	p.returnGroup(c.group)
	p.takeBack(c.network, c.lease)
	p.users.slices.Put(c.place.ids)
}

// releaseUsers closes the child's user namespace, which lives on with it.
func (c *child) releaseUsers() {
	if c.users != nil {
		c.users.Close()
		c.users = nil
	}
}

// returnGroup waits until a group is empty and gives it back. The death of a
// sandbox's first process takes its whole pid namespace along; what is in the
// group all the same is killed by the group.
func (p *Provider) returnGroup(g *cgroup.Group) {
	ctx, cancel := context.WithTimeout(context.Background(), reapTime)
	defer cancel()
	soon, done := context.WithTimeout(ctx, reapTime/10)
	err := g.Wait(soon)
	done()
	if err != nil {
		p.logError("kill cgroup", g.Kill())
		err = g.Wait(ctx)
	}
	if err == nil {
		err = p.groups.Put(ctx, g)
	}
	p.logError("give back cgroup "+g.Name(), err)
}

// settle tells a child to set up what is the same for every lambda. A child
// for the pool also rehearses, and says when it is done.
func (p *Provider) settle(c *child) error {
	defer c.place.handedOver()
	return c.control.send(message{
		Op: "settle", UID: p.users.seenID(c.place.ids), Root: p.users.realm != nil, Rehearse: c.origin == FromPool,
		Jail: &jailConf{TmpMB: p.cfg.TmpMB, ShmMB: p.cfg.ShmMB, Network: c.network, Loopback: c.ownNetwork()},
	}, c.place.listener, c.place.scratch)
}
