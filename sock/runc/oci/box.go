package oci

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/opencontainers/runc/libcontainer"
	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/cgroup"
	"github.com/open-lambda/open-lambda/sock/runc"
)

// program is what a container runs.
const program = "import sys; sys.path.insert(0, '/runtime'); from olrt import oci; oci.main()"

// box is one running container.
type box struct {
	process *libcontainer.Process
	pid     int
	done    chan struct{} // closed when the process is reaped

	mu        sync.Mutex // held over one operation
	container *libcontainer.Container
}

// start creates a container and runs its process. It must be called on a
// thread that outlives the container.
func (b *base) start(id string, s runc.Start, files []*os.File) (_ *box, err error) {
	network := ""
	want := runc.FixedFiles + len(s.Packages)
	if s.Lent {
		want++
	}
	if len(files) != want {
		return nil, fmt.Errorf("there are %d files, not %d", len(files), want)
	}
	if s.Lent { // the container's first process joins it, looking from outside
		network = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), files[want-1].Fd())
	}
	dirs, drop, err := b.hang(id, files[runc.FileScratch:runc.FixedFiles+len(s.Packages)])
	if err != nil {
		return nil, err
	}
	defer drop()
	container, err := libcontainer.Create(b.state, id, b.config(id, s, dirs, network))
	if err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	process := &libcontainer.Process{
		Args: []string{b.python, "-I", "-B", "-c", program},
		Env:  sock.Environment(),
		UID:  s.UID, GID: s.UID, Cwd: "/handler",
		Stdout: files[runc.FileOutput], Stderr: files[runc.FileOutput],
		ExtraFiles: []*os.File{files[runc.FileControl], files[runc.FileListener]},
		Init:       true,
	}
	x := &box{container: container, process: process, done: make(chan struct{})}
	if err := container.Run(process); err != nil {
		return nil, errors.Join(fmt.Errorf("run: %w", err), x.abandon())
	}
	if x.pid, err = process.Pid(); err != nil {
		return nil, errors.Join(fmt.Errorf("find process: %w", err), x.abandon())
	}
	return x, nil
}

// abandon removes a container that did not start.
func (x *box) abandon() error {
	if err := x.kill(); err == nil {
		_, _ = x.process.Wait() // reaps it, if there is one
	}
	if err := x.container.Destroy(); err != nil {
		return fmt.Errorf("destroy: %w", err)
	}
	return nil
}

// wait returns when the process has ended. It is called once.
func (x *box) wait() sock.Exit {
	defer close(x.done)
	state, err := x.process.Wait()
	if state == nil {
		fmt.Fprintln(os.Stderr, "wait for container:", err)
		return sock.Exit{Signalled: true, Status: int(unix.SIGKILL)}
	}
	ws, _ := state.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return sock.Exit{Signalled: true, Status: int(ws.Signal())}
	}
	return sock.Exit{Status: ws.ExitStatus()}
}

// limit sets the limits.
func (x *box) limit(l cgroup.Limits) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	config := x.container.Config()
	group := *config.Cgroups
	group.Resources = resources(l)
	group.Resources.SkipDevices = true // as they are
	config.Cgroups = &group
	return x.container.Set(config)
}

func (x *box) pause() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.container.Pause()
}

func (x *box) resume() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.container.Resume()
}

// kill ends the process, and with it all that is in the container. One that
// has ended is no error.
func (x *box) kill() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	err := x.container.Signal(unix.SIGKILL)
	if errors.Is(err, libcontainer.ErrNotRunning) {
		return nil
	}
	return err
}

// remove ends the container and removes what libcontainer made for it.
func (x *box) remove() error {
	if err := x.kill(); err != nil {
		return fmt.Errorf("kill: %w", err)
	}
	<-x.done
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.container.Destroy(); err != nil {
		return fmt.Errorf("destroy: %w", err)
	}
	return nil
}
