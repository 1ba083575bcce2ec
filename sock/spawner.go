package sock

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/nat"
)

// Environment is that of every process that is started; a lambda's own replaces it.
func Environment() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/tmp"}
}

// spawner is the thread that lives in the base root and starts processes from
// there. Its processes ask to die with it, so it lasts as long as they may.
type spawner struct {
	python   string
	people   func(*spawner, *root) error
	requests chan spawnRequest
	quit     chan struct{}
	once     sync.Once
}

type spawnRequest struct {
	job   spawnJob
	reply chan spawnReply
}

// spawnJob is one process to start.
type spawnJob struct {
	args    []string // after the interpreter
	files   []*os.File
	flags   uintptr  // clone flags
	ids     *mapping // in a new user namespace, as its root; nil: the host's root
	cgroup  *os.File
	network *os.File // namespace to be in; nil: the host's, or what flags say
	waitFor bool     // wait for it to end, for short helpers
}

type spawnReply struct {
	pid, pidfd int
	err        error
}

// newSpawner assembles the root and starts the thread; wg covers it. people
// runs on the thread when processes can be started and the root can still be
// written.
func newSpawner(r *root, python string, people func(*spawner, *root) error, wg *sync.WaitGroup) (*spawner, error) {
	s := &spawner{python: python, people: people, requests: make(chan spawnRequest), quit: make(chan struct{})}
	ready := make(chan error, 1)
	wg.Go(func() { s.onOwnThread(r, ready) })
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("assemble base root: %w", err)
	}
	return s, nil
}

// onOwnThread runs the spawner on a thread that ends with it, for its mount
// namespace must never be used by other goroutines. The process's first thread
// cannot end, and is what /proc/self shows, so another is taken.
func (s *spawner) onOwnThread(r *root, ready chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		s.run(r, ready)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		s.run(r, ready)
	}()
	<-done
	runtime.UnlockOSThread()
}

func (s *spawner) run(r *root, ready chan<- error) {
	err := s.settle(r)
	ready <- err
	if err != nil {
		return
	}
	for {
		select {
		case <-s.quit:
			return
		case req := <-s.requests:
			req.reply <- s.spawn(req.job)
		}
	}
}

// settle moves the thread into the base root.
func (s *spawner) settle(r *root) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare mount namespace: %w", err)
	}
	if err := mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	find := func() (err error) { s.python, err = findPython(s.python, os.Stat); return err }
	compile := func() error { return s.compile(null) }
	people := func() error { return s.people(s, r) }
	for _, step := range []func() error{r.build, r.enter, find, compile, people, r.seal} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// compile translates the runtime in the base root.
func (s *spawner) compile(null *os.File) error {
	args, err := compileArgs("/")
	if err != nil {
		return err
	}
	reply := s.spawn(spawnJob{args: args, files: []*os.File{null, null, null}, waitFor: true})
	if reply.err != nil {
		return fmt.Errorf("compile runtime: %w", reply.err)
	}
	return nil
}

// start has the thread start a process.
func (s *spawner) start(job spawnJob) (pid, pidfd int, err error) {
	req := spawnRequest{job: job, reply: make(chan spawnReply, 1)}
	select {
	case s.requests <- req:
	case <-s.quit:
		return 0, -1, ErrClosed
	}
	reply := <-req.reply
	return reply.pid, reply.pidfd, reply.err
}

// spawn forks and executes python on the calling thread.
func (s *spawner) spawn(job spawnJob) spawnReply {
	pidfd := -1
	attr := &syscall.ProcAttr{
		Dir: "/",
		Env: Environment(),
		Sys: &syscall.SysProcAttr{
			Setsid: true, Cloneflags: job.flags, Pdeathsig: syscall.SIGKILL, PidFD: &pidfd,
		},
	}
	if m := job.ids; m != nil {
		attr.Sys.Cloneflags |= unix.CLONE_NEWUSER
		attr.Sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: int(m.first), Size: int(m.count)}}
		attr.Sys.GidMappings = attr.Sys.UidMappings
		attr.Sys.GidMappingsEnableSetgroups = true
		attr.Sys.Credential = &syscall.Credential{}
	}
	for _, f := range job.files {
		attr.Files = append(attr.Files, f.Fd())
	}
	if job.cgroup != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(job.cgroup.Fd())
	}
	fork := func() (pid int, err error) {
		return syscall.ForkExec(s.python, append([]string{s.python}, job.args...), attr)
	}
	pid, err := s.forkIn(job.network, fork)
	if err != nil {
		return spawnReply{err: fmt.Errorf("start python: %w", err)}
	}
	if job.waitFor {
		defer unix.Close(pidfd)
		return spawnReply{pid: pid, err: waitFor(pid)}
	}
	return spawnReply{pid: pid, pidfd: pidfd}
}

// forkIn forks from within a network namespace, unless that is nil.
func (s *spawner) forkIn(network *os.File, fork func() (int, error)) (pid int, err error) {
	if network == nil {
		return fork()
	}
	err = nat.Inside(network, func() error {
		pid, err = fork()
		return err
	})
	return pid, err
}

func waitFor(pid int) error {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &status, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait for python: %w", err)
		}
		if status.ExitStatus() != 0 {
			return fmt.Errorf("python ended with status %d", status.ExitStatus())
		}
		return nil
	}
}

// close ends the thread, and with it every process that it or a zygote began.
func (s *spawner) close() { s.once.Do(func() { close(s.quit) }) }
