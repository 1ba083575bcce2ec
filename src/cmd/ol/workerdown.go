package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"
)

func workerDownCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:        "down",
		Usage:       "stop a worker: running requests may end, the rest is refused",
		Description: "Succeeds when none runs.",
		Flags:       []cli.Flag{pathFlag(), jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			return workerDown(s, c)
		},
	}
}

// stopped is the JSON form of what down and force-cleanup did.
type stopped struct {
	Dir string `json:"dir"`
	PID int    `json:"pid,omitempty"` // of the process that was stopped, 0 if none ran
}

func workerDown(s streams, c *cli.Context) error {
	dir := workerDir(s, c)
	process, err := holderProcess(dir)
	if err != nil {
		return fail(codeFailed, "stop worker", err, "")
	}
	done := stopped{Dir: dir}
	if process != nil {
		done.PID = process.Pid
		if err := stop(c.Context, s, c, process); err != nil {
			return err
		}
	}
	return reportStopped(s, c, "worker", done)
}

// reportStopped says what was stopped: a worker or a boss.
func reportStopped(s streams, c *cli.Context, what string, done stopped) error {
	switch {
	case c.Bool("json"):
		return s.printJSON(done)
	case done.PID == 0:
		s.say("no %s runs in %s", what, done.Dir)
	default:
		s.say("stopped %s, process %d", what, done.PID)
	}
	return nil
}

// stop interrupts a worker and gives it the time that its configuration says
// it may take to drain.
func stop(ctx context.Context, s streams, c *cli.Context, process *os.Process) error {
	limit := 40 * time.Second
	if n, err := openNode(s, workerDir(s, c)); err == nil {
		limit = time.Duration(n.config.DrainSec)*time.Second + 10*time.Second
	}
	return interrupt(ctx, "stop worker", process, limit, "end it at once: ol worker force-cleanup"+pathHint(c))
}

// interrupt lets a worker or a boss end, and says what to do if it does not
// within the limit.
func interrupt(ctx context.Context, what string, process *os.Process, limit time.Duration, otherwise string) error {
	err := signalAndWait(ctx, process, os.Interrupt, limit)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrPermission):
		return fail(codeFailed, what, err, "type it again with sudo in front")
	case errors.Is(err, context.DeadlineExceeded):
		return fail(codeTimeout, what, fmt.Errorf("process %d did not end within %v", process.Pid, limit), otherwise)
	}
	return fail(codeFailed, what, err, "")
}
