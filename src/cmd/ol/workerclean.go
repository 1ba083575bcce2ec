package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/sock/runc"
	"github.com/open-lambda/open-lambda/src/config"
)

// killLimit bounds the end of a worker that was killed.
const killLimit = 20 * time.Second

func workerCleanCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:        "force-cleanup",
		Usage:       "end a worker at once and remove what it left on the machine",
		Description: "Configuration, lambdas and logs stay. Succeeds when there is nothing to do.",
		Flags:       []cli.Flag{pathFlag(), jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			return workerClean(s, c)
		},
	}
}

func workerClean(s streams, c *cli.Context) error {
	dir := workerDir(s, c)
	n, err := openNode(s, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return tellStopped(s, c, stopped{Dir: dir}, "there is no worker in %s, nothing to clean", dir)
	}
	if err != nil {
		// A broken configuration must not keep anybody from cleaning up.
		if n.config, err = loadConfig(dir, config.Sources{}); err != nil {
			return err
		}
		n.dir = dir
	}
	if err := requireRoot("clean up"); err != nil {
		return err
	}
	done := stopped{Dir: dir}
	process, err := holderProcess(dir)
	if err != nil {
		return fail(codeFailed, "clean up", err, "")
	}
	if process != nil {
		done.PID = process.Pid
		if err := signalAndWait(c.Context, process, os.Kill, killLimit); err != nil {
			return fail(codeFailed, "clean up", err, "")
		}
	}
	if err := cleanNode(c.Context, n); err != nil {
		return fail(codeFailed, "clean up", err, "type it again; if that does not help, look for processes and cgroups named openlambda-"+instanceOf(dir))
	}
	if done.PID != 0 {
		return tellStopped(s, c, done, "ended process %d and cleaned up after it", done.PID)
	}
	return tellStopped(s, c, done, "no worker ran in %s; what one left is removed", dir)
}

func tellStopped(s streams, c *cli.Context, done stopped, format string, args ...any) error {
	if c.Bool("json") {
		return s.printJSON(done)
	}
	s.say(format, args...)
	return nil
}

// cleanNode removes what a worker that does not run any more has left behind:
// its sandboxes and its socket.
func cleanNode(ctx context.Context, n node) error {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	err := runc.Clean(ctx, instanceOf(n.dir), scratchOf(n))
	for _, left := range []string{n.socket(), filepath.Join(n.dir, overridesFile)} {
		if e := os.Remove(left); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("remove leftover: %w", e))
		}
	}
	return err
}
