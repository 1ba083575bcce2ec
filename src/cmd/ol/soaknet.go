package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/nat"
)

// soakElsewhere runs the same command again in a network namespace that
// forwards packets, so that lambdas can have networks of their own without this
// machine becoming a router. Nothing leads out of it.
func soakElsewhere(s streams, c *cli.Context) error {
	made, err := nat.Make(1)
	if err != nil {
		return fail(codeUnfit, "soak", err, "choose another network: --network none")
	}
	defer made[0].Close()
	// The kernel interrupts the child when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// The child stops what it began when it is interrupted, and is given the time.
	cmd := exec.CommandContext(c.Context, "/proc/self/exe", soakArgs(c)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	cmd.Args[0] = "ol"
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, s.out, s.err
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGINT}
	err = nat.Inside(made[0], func() error {
		if err := forward(); err != nil {
			return err
		}
		return cmd.Start()
	})
	if err != nil {
		return fail(codeUnfit, "soak in a network namespace", err, "choose another network: --network none")
	}
	return told(c.Context, cmd.Wait())
}

// soakArgs is the command line again.
func soakArgs(c *cli.Context) []string {
	args := []string{"bench", "soak"}
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; c.IsSet(name) && name != "help" {
			args = append(args, fmt.Sprintf("--%s=%v", name, c.Value(name)))
		}
	}
	return args
}

// forward makes the network namespace of the calling thread one that sandboxes
// can get networks in.
func forward() error {
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
		return fmt.Errorf("forward packets: %w", err)
	}
	if err := nat.RaiseLoopback(); err != nil {
		return err
	}
	return nat.Check() // the child would not find better either
}

// told turns the end of a child that has explained itself into ours.
func told(ctx context.Context, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil {
		return fail(exit.ExitCode(), "soak", errors.New("it failed, see above"), "")
	}
	return err
}
