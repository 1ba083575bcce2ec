package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/api"
)

// Bounds of a start in the background.
const (
	readyLimit = 60 * time.Second
	lastLines  = 20 // of the log, shown when a start fails
)

// background is the JSON form of a worker that was started.
type background struct {
	PID  int    `json:"pid"`
	Port string `json:"port"`
	Log  string `json:"log"`
	Dir  string `json:"dir"`
}

// detach starts a worker in a session of its own and waits until it is ready.
func detach(ctx context.Context, s streams, c *cli.Context, n node) error {
	log := filepath.Join(n.dir, outputFile)
	pid, err := spawn(s, n.dir, c.String("options"), log, forGood)
	if err != nil {
		return fail(codeFailed, "start worker", err, "")
	}
	ready, err := awaitReady(ctx, s, n.dir, pid)
	if err != nil {
		endChild(pid)
		s.say("last lines of %s:\n%s", log, tailOf(log, lastLines))
		code := codeFailed
		var over *endedError
		if errors.As(err, &over) && over.code > 0 {
			code = over.code
		}
		return fail(code, "start worker", err, "see all of it: "+log)
	}
	started := background{pid, ready.config.WorkerPort, log, n.dir}
	if c.Bool("json") {
		return s.printJSON(started)
	}
	s.print("PID: %d\nPort: %s\nLog File: %s\nReady!", started.PID, started.Port, started.Log)
	return nil
}

// What becomes of a spawned worker when its parent ends.
const (
	forGood         = unix.Signal(0)
	untilParentEnds = unix.SIGINT // it is interrupted
)

// spawn starts this program again as a worker that writes to a log. It returns
// its pid.
func spawn(s streams, dir, options, log string, end unix.Signal) (int, error) {
	args := []string{"ol", "worker", "up", "-p", dir}
	if options != "" {
		args = append(args, "-o", options)
	}
	return spawnArgs(s, args, log, end)
}

// spawnArgs starts this program again with other arguments.
func spawnArgs(s streams, args []string, log string, end unix.Signal) (int, error) {
	out, err := newLog(log)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: args, Dir: s.dir, Env: s.env,
		Stdout: out, Stderr: out,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: end},
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start process: %w", err)
	}
	return cmd.Process.Pid, nil
}

// newLog begins a log anew; the one before it stays beside it, for it may say
// why a process ended.
func newLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		if err := os.Rename(path, path+api.LogOlder); err != nil {
			return nil, fmt.Errorf("keep older log: %w", err)
		}
	}
	out, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("make log: %w", err)
	}
	return out, nil
}

// awaitReady waits until the child, and no other process, answers as the worker
// of dir. It returns the node with the configuration that the child runs with.
func awaitReady(ctx context.Context, s streams, dir string, pid int) (node, error) {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := childEnded(pid); err != nil {
			return node{}, err
		}
		if n, err := openNode(s, dir); err == nil {
			if answered, err := n.pid(ctx); err == nil && answered == pid {
				if text, err := n.get(ctx, api.PathStatus, nil); err == nil && string(text) == api.StatusReady {
					return n, nil
				}
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return node{}, fmt.Errorf("wait until ready: %w", ctx.Err())
		}
	}
}

// endedError is a worker that ended before it was ready.
type endedError struct {
	how  string
	code int // its exit code, 0 if it has none
}

// Error says how it ended.
func (e *endedError) Error() string { return "the process ended: " + e.how }

// childEnded returns an *endedError if our child ended. It is asked again and
// again rather than waited for, because a good child outlives us.
func childEnded(pid int) error {
	var status unix.WaitStatus
	got, err := unix.Wait4(pid, &status, unix.WNOHANG, nil)
	switch {
	case errors.Is(err, unix.ECHILD):
		return &endedError{how: "nobody knows how"}
	case got != pid:
		return nil
	case status.Signaled():
		return &endedError{how: "signal " + status.Signal().String()}
	}
	return &endedError{how: fmt.Sprintf("exit code %d", status.ExitStatus()), code: status.ExitStatus()}
}

// endChild stops our child, which cannot have been replaced by a stranger: its
// number is its own until we have waited for it.
func endChild(pid int) {
	if childEnded(pid) != nil {
		return
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	if process.Signal(os.Interrupt) != nil {
		return
	}
	deadline := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(deadline) {
		if childEnded(pid) != nil {
			return
		}
		<-tick.C
	}
	// It has a handler for the interrupt and did not get through it.
	if process.Kill() == nil {
		_, _ = process.Wait()
	}
}

// tailOf returns the last lines of a file, as far as they fit 16 KB.
func tailOf(path string, lines int) string {
	const most = 16 << 10
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if end, err := file.Seek(0, io.SeekEnd); err == nil && end > most {
		_, err = file.Seek(-most, io.SeekEnd)
		if err != nil {
			return err.Error()
		}
	} else if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
