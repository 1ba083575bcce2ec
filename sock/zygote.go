package sock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-lambda/open-lambda/sock/cgroup"
	"github.com/open-lambda/open-lambda/sock/ids"
)

const (
	preloadTime = 60 * time.Second // for a zygote to import its modules
	forkTime    = 10 * time.Second // for a zygote to answer a request
	stableTime  = 10 * time.Second // a zygote that lived longer is replaced at once
	maxBackoff  = 30 * time.Second
)

var errNoZygote = errors.New("no zygote is ready")

// zygote is one process that forks sandboxes.
type zygote struct {
	proc  *process
	group *cgroup.Group
	out   *output

	mu      sync.Mutex // held over a whole question and answer
	control *control
}

// fork asks for a child that inherits the ends and starts in the cgroup, and in
// the network namespace unless that is nil.
func (z *zygote) fork(m message, group *os.File, ends childEnds, network *os.File) (pid, pidfd int, err error) {
	m.Op = "fork"
	passed := Files{group, ends.control, ends.output}
	if network != nil {
		passed = append(passed, network)
	}
	return z.ask(m, passed...)
}

// ask asks for a process.
func (z *zygote) ask(m message, passed ...*os.File) (pid, pidfd int, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if err := z.control.send(m, passed...); err != nil {
		return 0, -1, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), forkTime)
	defer cancel()
	answer, fd, err := z.control.receive(ctx)
	switch {
	case err != nil:
		z.proc.kill() // its answers and our questions no longer match
		return 0, -1, err
	case answer.Op != "forked" || fd < 0:
		return 0, -1, fmt.Errorf("fork from zygote: %s", answer.Text)
	}
	return answer.PID, fd, nil
}

// nursery keeps one zygote alive.
type nursery struct {
	p    *Provider
	born atomic.Int64

	mu      sync.Mutex
	current *zygote       // nil while none is ready
	changed chan struct{} // closed when current changes
}

func newNursery(p *Provider) *nursery { return &nursery{p: p, changed: make(chan struct{})} }

// run starts a zygote, and another whenever it ends, until the provider
// closes. One that ends soon is replaced after a pause that doubles.
func (n *nursery) run(ctx context.Context) {
	backoff := 100 * time.Millisecond
	for ctx.Err() == nil {
		begin := time.Now()
		err := n.live(ctx)
		if ctx.Err() != nil {
			return
		}
		n.p.log.Warn("zygote ended", "reason", err)
		if time.Since(begin) > stableTime {
			backoff = 100 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

// live is one zygote's life. It always ends with an error that says why.
func (n *nursery) live(ctx context.Context) error {
	z, err := n.start(ctx)
	if err != nil {
		return err
	}
	defer n.p.bury(z)
	n.set(z)
	defer n.set(nil)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-z.proc.done:
		return errors.New(exitReason(z.proc, z.group))
	}
}

// start begins a zygote and returns when it has imported its modules.
func (n *nursery) start(ctx context.Context) (*zygote, error) {
	z, ends, err := n.begin()
	if err != nil {
		return nil, err
	}
	defer ends.close()
	pid, pidfd, err := n.fork(z, ends)
	if err == nil {
		z.proc, err = newProcess(pid, pidfd, &n.p.wg)
	}
	if err == nil {
		err = z.group.Attach(pid)
	}
	if err == nil {
		ends.close() // so that the death of the zygote ends the wait
		err = n.preload(ctx, z)
	}
	if err != nil {
		n.p.bury(z)
		return nil, fmt.Errorf("start zygote: %w", err)
	}
	return z, nil
}

func (n *nursery) fork(z *zygote, ends childEnds) (pid, pidfd int, err error) {
	if err := n.p.cfg.FaultAt(FaultFork); err != nil {
		return 0, -1, err
	}
	return n.p.spawner.start(spawnJob{
		args:   []string{"-I", "-B", "-c", "import sys; sys.path.insert(0, '/runtime'); from olrt import zygote; zygote.main()"},
		files:  []*os.File{n.p.null, ends.output, ends.output, ends.control},
		cgroup: z.group.File(),
	})
}

// begin makes a zygote's cgroup and sockets. The group gets no memory limit:
// the kernel charges it for the page tables of every child, 0.7 MB each where
// that was measured, so that any limit would bound the number of sandboxes.
func (n *nursery) begin() (_ *zygote, _ childEnds, err error) {
	var u undo
	defer u.run()
	group, err := n.p.driver.Make(fmt.Sprintf("zygote-%d", n.born.Add(1)))
	if err != nil {
		return nil, childEnds{}, err
	}
	u.add(func() { n.p.removeGroup(group) })
	ctl, ctlEnd, err := newControl()
	if err != nil {
		return nil, childEnds{}, err
	}
	u.add(func() { ctl.close(); ctlEnd.Close() })
	out, outEnd, err := newOutput(&n.p.wg)
	if err != nil {
		return nil, childEnds{}, err
	}
	u.release()
	return &zygote{group: group, out: out, control: ctl}, childEnds{ctlEnd, outEnd}, nil
}

func (n *nursery) preload(ctx context.Context, z *zygote) error {
	var realm Files
	if n.p.users.realm != nil {
		realm = Files{n.p.users.realm}
	}
	m, err := z.preload(ctx, message{Modules: n.p.cfg.Preload, Network: n.p.cfg.Network}, realm...)
	if len(m.Missing) > 0 {
		n.p.log.Info("zygote lacks modules", "missing", m.Missing)
	}
	return err
}

// preload has a zygote import modules and returns its answer.
func (z *zygote) preload(ctx context.Context, m message, files ...*os.File) (message, error) {
	m.Op = "preload"
	if err := z.control.send(m, files...); err != nil {
		return message{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, preloadTime)
	defer cancel()
	answer, _, err := z.control.receive(ctx)
	if err != nil {
		return message{}, fmt.Errorf("%w; it printed: %s", err, z.out.last())
	}
	return answer, nil
}

// bury removes what is left of a zygote.
func (p *Provider) bury(z *zygote) {
	z.control.close()
	if z.proc != nil {
		z.proc.kill()
		<-z.proc.done
	}
	z.out.close()
	p.removeGroup(z.group)
}

func (n *nursery) set(z *zygote) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.current = z
	close(n.changed)
	n.changed = make(chan struct{})
}

// get returns the zygote that is ready, or nil, and a channel that is closed
// when that changes.
func (n *nursery) get() (*zygote, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.current, n.changed
}

// forkChild forks a child from the root zygote.
func (p *Provider) forkChild(origin, network string) (*child, error) {
	z, _ := p.nursery.get()
	if z == nil {
		return nil, errNoZygote
	}
	return p.forkFrom(z, origin, network)
}

// forkFrom forks a child from a zygote.
func (p *Provider) forkFrom(z *zygote, origin, network string) (*child, error) {
	c, ends, err := p.newChild(origin, network)
	if err != nil {
		return nil, err
	}
	defer ends.close()
	var pid, pidfd int
	if err = p.cfg.FaultAt(FaultZygote); err == nil {
		pid, pidfd, err = z.fork(p.forkMessage(c), c.group.File(), ends, c.namespace())
	}
	if err != nil {
		p.reapStrays(c.group)
		p.discard(c)
		return nil, err
	}
	return c, p.adopt(c, pid, pidfd)
}

// forkMessage says in which namespaces a child is to be.
func (p *Provider) forkMessage(c *child) message {
	m := message{NewNet: c.ownNetwork()}
	if p.users.realm != nil {
		m.IDs = &idRange{c.place.ids.Offset, ids.SliceSize}
	}
	return m
}
