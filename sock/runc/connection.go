package runc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/open-lambda/open-lambda/sock/rights"
)

// errLost says that the helper has ended.
var errLost = errors.New(Program + " has ended")

// connection is one running helper.
type connection struct {
	conn *rights.Conn
	gone chan struct{} // closed when the process is reaped and nothing will be answered any more
	kill func()

	sending sync.Mutex // held over one message

	mu         sync.Mutex
	lost       bool
	seq        uint64
	waiting    map[uint64]chan Answer // capacity 1
	containers map[string]*container
}

// connect starts a helper. wg covers the goroutines, which end with it. It
// works in a mount namespace of its own, and the kernel kills it if this
// process ends.
func connect(program string, log *slog.Logger, wg *sync.WaitGroup) (*connection, error) {
	conn, theirs, err := rights.Pair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	c := &connection{
		conn: conn, gone: make(chan struct{}),
		waiting: map[uint64]chan Answer{}, containers: map[string]*container{},
	}
	cmd := exec.Command(program, "serve")
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Stderr = logWriter{log}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	wg.Go(func() { c.live(cmd, log, started) })
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	c.kill = func() { _ = cmd.Process.Kill() }
	return c, nil
}

// live is the helper's life. The kernel ends the helper with the thread that
// started it, so the thread waits for it here.
func (c *connection) live(cmd *exec.Cmd, log *slog.Logger, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err != nil {
		c.conn.Close()
		return
	}
	var reader sync.WaitGroup
	reader.Go(c.read)
	err = cmd.Wait()
	reader.Wait()
	c.conn.Close()
	if err != nil {
		log.Warn("helper ended", "program", cmd.Path, "error", err)
	}
	c.lose()
	close(c.gone)
}

// logWriter passes on what a helper has to say, line by line.
type logWriter struct{ log *slog.Logger }

// Write implements io.Writer.
func (w logWriter) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		w.log.Warn("helper says", "text", strings.TrimSpace(line))
	}
	return len(p), nil
}

// read passes answers and events on until the helper ends.
func (c *connection) read() {
	for {
		var a Answer
		if _, err := c.conn.Receive(context.Background(), &a, 0); err != nil {
			return
		}
		c.mu.Lock()
		if a.Event == EventExited {
			if box := c.containers[a.ID]; box != nil && a.Exit != nil {
				box.end(*a.Exit, false)
			}
		} else if w := c.waiting[a.Seq]; w != nil {
			delete(c.waiting, a.Seq)
			w <- a
		}
		c.mu.Unlock()
	}
}

// lose ends what waits for the helper.
func (c *connection) lose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = true
	for seq, w := range c.waiting {
		delete(c.waiting, seq)
		close(w)
	}
	for _, box := range c.containers {
		box.lose()
	}
}

// alive reports whether the helper can be asked.
func (c *connection) alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.lost
}

// register makes events about a container reach it.
func (c *connection) register(box *container) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost {
		return errLost
	}
	c.containers[box.id] = box
	return nil
}

func (c *connection) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.containers, id)
}

// call asks the helper and waits for the answer, or until the helper ends.
func (c *connection) call(r Request, files ...*os.File) (Answer, error) {
	answer := make(chan Answer, 1)
	c.mu.Lock()
	if c.lost {
		c.mu.Unlock()
		return Answer{}, errLost
	}
	c.seq++
	r.Seq = c.seq
	c.waiting[r.Seq] = answer
	c.mu.Unlock()
	c.sending.Lock()
	err := c.conn.Send(r, files...)
	c.sending.Unlock()
	if err != nil {
		c.kill() // half a message cannot be taken back
		<-c.gone
		return Answer{}, errors.Join(errLost, err)
	}
	a, ok := <-answer
	switch {
	case !ok:
		return Answer{}, errLost
	case a.Error != "":
		return a, fmt.Errorf("%s container: %s", r.Op, a.Error)
	}
	return a, nil
}

// close has the helper end everything, and kills it if ctx ends first.
func (c *connection) close(ctx context.Context) {
	c.conn.Close()
	select {
	case <-c.gone:
	case <-ctx.Done():
		c.kill()
		<-c.gone
	}
}

var _ io.Writer = logWriter{}
