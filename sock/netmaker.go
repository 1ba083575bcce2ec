package sock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/open-lambda/open-lambda/sock/nat"
)

// aloneReady is how many networks of NetworkNone are kept ready beyond the
// pool's: as many starts may come at once before one waits for the kernel's
// network locks. The kernel holds some 175 kB for each.
const aloneReady = 60

// netMaker makes network namespaces that belong to the realm, for only such can
// a zygote join. A helper process makes them, for no thread of ours can go
// there. It is started with the first and stays, because to start it takes
// longer than dozens of them.
type netMaker struct {
	p *Provider

	mu      sync.Mutex // held over a whole question and answer
	control *control   // nil while there is no helper
	proc    *process
}

// make makes a number of namespaces. A helper that failed is replaced the next
// time.
func (m *netMaker) make(count int) ([]*os.File, error) {
	if err := m.p.cfg.FaultAt(FaultNetwork); err != nil {
		return nil, fmt.Errorf("make network namespace: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.control == nil {
		if err := m.start(); err != nil {
			return nil, err
		}
	}
	made, err := m.ask(count)
	if err != nil {
		m.end()
		Files(made).Close()
		return nil, fmt.Errorf("make network namespace: %w", err)
	}
	return made, nil
}

func (m *netMaker) start() error {
	ours, theirs, err := newControl()
	if err != nil {
		return err
	}
	pid, pidfd, err := m.p.spawner.start(spawnJob{
		args:  []string{"-I", "-S", "-B", "-c", "import sys; sys.path.insert(0, '/runtime'); from olrt import netns; netns.main()"},
		files: []*os.File{m.p.null, m.p.null, m.p.null, theirs},
	})
	theirs.Close()
	if err == nil {
		m.proc, err = newProcess(pid, pidfd, &m.p.wg)
	}
	if err != nil {
		ours.close()
		return fmt.Errorf("start maker of networks: %w", err)
	}
	m.control = ours
	if err := ours.send(message{Op: "realm"}, m.p.users.realm); err != nil {
		m.end()
		return err
	}
	return nil
}

func (m *netMaker) ask(count int) (made []*os.File, err error) {
	if err := m.control.send(message{Op: "networks", Count: count}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), networkTime)
	defer cancel()
	for range count {
		answer, fd, err := m.control.receive(ctx)
		if err == nil && fd < 0 {
			err = errors.New(answer.Text)
		}
		if err != nil {
			return made, err
		}
		made = append(made, os.NewFile(uintptr(fd), "net"))
	}
	return made, nil
}

// end ends the helper; mu is held.
func (m *netMaker) end() {
	if m.control == nil {
		return
	}
	m.control.close()
	m.control = nil
	m.proc.kill()
	<-m.proc.done
}

func (m *netMaker) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end()
}

// lend gets a child a network namespace; nil if it makes its own, or has the
// host's. A zygote on the host's network cannot come back to it from another.
func (p *Provider) lend(network string) (*nat.Lease, error) {
	if network == NetworkNone && p.alone != nil {
		return p.alone.Get()
	}
	return p.networks.Lend(network)
}

// takeBack returns a namespace that nothing runs in any more.
func (p *Provider) takeBack(network string, l *nat.Lease) {
	if network == NetworkNone && l != nil {
		p.alone.Put(l)
		return
	}
	p.networks.GiveBack(l)
}

// openNetworks prepares networks; those of the provider's own kind are made
// ahead.
func (p *Provider) openNetworks() error {
	p.netMaker = &netMaker{p: p}
	var maker func(int) ([]*os.File, error)
	if p.users.realm != nil {
		maker = p.netMaker.make
	}
	p.networks = NewNetworks(p.cfg, p.users, p.cfg.Pool+2, maker)
	switch p.cfg.Network {
	case NetworkNone:
		p.alone = nat.NewAlone(p.cfg.Pool+aloneReady, maker, p.log)
	case NetworkNAT:
		_, err := p.networks.open()
		return err
	}
	return nil
}

// closeNetworks gives networks back to the kernel, when no sandbox is left.
func (p *Provider) closeNetworks() error {
	err := p.networks.Close()
	if p.alone != nil {
		p.alone.Close()
	}
	p.netMaker.close()
	return err
}
