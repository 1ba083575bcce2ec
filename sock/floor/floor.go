package floor

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/cgroup"
)

//go:embed floor.py
var program string

// stepTime bounds every step of a measurement.
const stepTime = time.Minute

// Zygote is a bare Python that forks children.
type Zygote struct {
	// Constant has children answer a constant without reading the request,
	// which no server can do: what then remains is the kernel's work.
	Constant bool

	dir    string
	cmd    *exec.Cmd
	driver *cgroup.Driver
	groups *cgroup.Pool

	mu   sync.Mutex // held over a question and its answer
	conn *net.UnixConn
	n    int
}

// Open starts the bare zygote. instance names its control groups and must not
// be in use; dir is an absolute directory that is made, and removed by Close.
// imports are modules that it imports, for it to weigh what a real one does.
// It needs root and /usr/bin/python3.
func Open(instance, dir string, imports ...string) (_ *Zygote, err error) {
	z := &Zygote{dir: dir}
	for _, name := range []string{"root/usr", "root/handler", "root/host", "code", "scratch"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return nil, fmt.Errorf("make floor directory: %w", err)
		}
	}
	if z.driver, err = cgroup.Open(instance); err != nil {
		return nil, err
	}
	z.groups = cgroup.NewPool(z.driver, "bare", 8, true)
	if err = z.groups.Fill(); err == nil {
		err = z.start(imports)
	}
	if err != nil {
		return nil, errors.Join(err, z.Close())
	}
	return z, nil
}

func (z *Zygote) start(imports []string) error {
	ours, theirs, err := pair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	z.conn = ours
	z.cmd = exec.Command("/usr/bin/python3", append([]string{"-I", "-c", program}, imports...)...)
	z.cmd.Env = []string{"LANG=C.UTF-8"}
	z.cmd.Stderr = os.Stderr
	z.cmd.ExtraFiles = []*os.File{theirs}
	if err := z.cmd.Start(); err != nil {
		z.cmd = nil
		return fmt.Errorf("start bare zygote: %w", err)
	}
	return nil
}

// Close ends the zygote and removes what it used.
func (z *Zygote) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stepTime)
	defer cancel()
	var errs []error
	if z.conn != nil {
		z.conn.Close()
	}
	if z.cmd != nil {
		if err := z.cmd.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("end bare zygote: %w", err))
		}
	}
	errs = append(errs, z.groups.Close(ctx), z.driver.Clean(ctx), z.driver.Close(), os.RemoveAll(z.dir))
	return errors.Join(errs...)
}

// Parked measures a child that was forked ahead and waits: from telling it to
// go on, over its three binds, pivot_root and listen, to its first answer.
func (z *Zygote) Parked() (time.Duration, error) {
	c, err := z.fork()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	err = c.answer(filepath.Join(z.dir, "root"))
	took := time.Since(begin)
	return took, errors.Join(err, c.end())
}

// Forked measures a fork into new namespaces and a cgroup, to the child's
// first answer. It may be called by several goroutines.
func (z *Zygote) Forked() (time.Duration, error) {
	begin := time.Now()
	c, err := z.fork()
	if err != nil {
		return 0, err
	}
	err = c.answer("")
	took := time.Since(begin)
	return took, errors.Join(err, c.end())
}

// Rate makes n forks, parallel at a time, and returns how many are made to
// their first answer and removed again per second.
func (z *Zygote) Rate(n, parallel int) (float64, error) {
	jobs := make(chan struct{}, n)
	for range n {
		jobs <- struct{}{}
	}
	close(jobs)
	errs := make(chan error, parallel)
	begin := time.Now()
	for range parallel {
		go func() {
			var err error
			for range jobs {
				if err == nil {
					_, err = z.Forked()
				}
			}
			errs <- err
		}()
	}
	var all []error
	for range parallel {
		all = append(all, <-errs)
	}
	return float64(n) / time.Since(begin).Seconds(), errors.Join(all...)
}

// bare is one child.
type bare struct {
	z       *Zygote
	group   *cgroup.Group
	control *net.UnixConn
	socket  string
}

// fork makes a child and waits until it is in place.
func (z *Zygote) fork() (*bare, error) {
	group, err := z.groups.Get()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := pair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	pid, n, err := z.ask(group.File(), theirs)
	if err != nil {
		return nil, err
	}
	c := &bare{z: z, group: group, control: ours, socket: filepath.Join(z.dir, "scratch", strconv.Itoa(n))}
	if err := group.Attach(pid); err != nil {
		return nil, err
	}
	return c, c.read('p')
}

// ask has the zygote fork; it returns the child's process id and a number.
func (z *Zygote) ask(group, control *os.File) (pid, n int, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.n++
	_ = z.conn.SetDeadline(time.Now().Add(stepTime))
	if _, _, err := z.conn.WriteMsgUnix([]byte{'f'}, unix.UnixRights(int(group.Fd()), int(control.Fd())), nil); err != nil {
		return 0, 0, fmt.Errorf("ask bare zygote: %w", err)
	}
	var answer [8]byte
	if _, err := io.ReadFull(z.conn, answer[:]); err != nil {
		return 0, 0, fmt.Errorf("read bare zygote: %w", err)
	}
	pid = int(int64(binary.NativeEndian.Uint64(answer[:])))
	if pid <= 0 {
		return 0, 0, errors.New("fork from bare zygote: clone3 failed")
	}
	return pid, z.n, nil
}

// read waits for one byte of the child.
func (c *bare) read(want byte) error {
	var b [1]byte
	_ = c.control.SetDeadline(time.Now().Add(stepTime))
	if _, err := io.ReadFull(c.control, b[:]); err != nil {
		return fmt.Errorf("read bare child: %w", err)
	}
	if b[0] != want {
		return fmt.Errorf("read bare child: got %q, not %q", b[0], want)
	}
	return nil
}

// answer tells the child to listen, in a new root if one is given, and gets
// one answer from it.
func (c *bare) answer(root string) error {
	how := "http"
	if c.z.Constant {
		how = "constant"
	}
	order := strings.Join([]string{root, filepath.Join(c.z.dir, "code"), filepath.Join(c.z.dir, "scratch"), c.socket, how}, "\n")
	if _, err := c.control.Write([]byte(order)); err != nil {
		return fmt.Errorf("tell bare child: %w", err)
	}
	if err := c.read('l'); err != nil {
		return err
	}
	conn, err := net.Dial("unix", c.socket)
	if err != nil {
		return fmt.Errorf("connect to bare child: %w", err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		return fmt.Errorf("call bare child: %w", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return fmt.Errorf("read answer of bare child: %w", err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return fmt.Errorf("read answer of bare child: %w", err)
	}
	return nil
}

// end waits until the child, which leaves after its answer, is gone.
func (c *bare) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), stepTime)
	defer cancel()
	c.control.Close()
	if err := c.group.Wait(ctx); err != nil {
		return err
	}
	_ = os.Remove(c.socket)
	return c.z.groups.Put(ctx, c.group)
}

// pair makes a socket pair; the second end is for a child.
func pair() (*net.UnixConn, *os.File, error) {
	fds, err := syscall.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		theirs.Close()
		return nil, nil, fmt.Errorf("make socket pair: %w", err)
	}
	return conn.(*net.UnixConn), theirs, nil
}
