package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/testbed"
)

// relayName is the directory and the log of the relay in a testbed's directory.
const relayName = "relay"

// relayCommand is what "testbed up --delay" starts; nobody types it.
func relayCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "relay", Hidden: true, Usage: "hold up what the hosts of a testbed send one another",
		Flags:  []cli.Flag{testbedPathFlag()},
		Action: func(c *cli.Context) error { return relayAll(c.Context, s, c) },
	}
}

// relayAll relays to every port of every host until ctx ends.
func relayAll(ctx context.Context, s streams, c *cli.Context) error {
	t, err := openTestbed(s.abs(c.String("path")))
	if err != nil {
		return err
	}
	var ways []relayed
	for _, h := range t.Hosts {
		for _, port := range ports(h) {
			l, err := net.Listen("tcp", net.JoinHostPort(t.network().RelayAddress(h), port))
			if err != nil {
				return errors.Join(fail(codeFailed, "relay", err, ""), closeAll(ways))
			}
			ways = append(ways, relayed{l, &testbed.Relay{Target: net.JoinHostPort(t.network().Address(h), port), Delay: t.Delay}})
		}
	}
	// Whoever waits for us sees that every port is taken.
	lock, err := lockDir(t.hostDir(relayName))
	if err != nil {
		return errors.Join(fail(codeFailed, "relay", err, ""), closeAll(ways))
	}
	defer lock.Close()
	return serveAll(ctx, ways)
}

// relayed is a port that is relayed.
type relayed struct {
	listener net.Listener
	relay    *testbed.Relay
}

func closeAll(ways []relayed) error {
	var errs []error
	for _, w := range ways {
		errs = append(errs, w.listener.Close())
	}
	return errors.Join(errs...)
}

func serveAll(ctx context.Context, ways []relayed) error {
	errs := make([]error, len(ways))
	var wg sync.WaitGroup
	for i, w := range ways {
		wg.Go(func() { errs[i] = w.relay.Serve(ctx, w.listener) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// ports are those that a host has for the others.
func ports(h testbed.Host) []string {
	if isBoss(h) {
		return []string{testbedPort, groupPort}
	}
	return []string{testbedPort}
}

// startRelay starts the relay, if the testbed has one, and waits until it has
// taken every port.
func (t *testbedState) startRelay(ctx context.Context, s streams) error {
	if t.Delay == 0 {
		return nil
	}
	dir := t.hostDir(relayName)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	pid, err := spawnArgs(s, []string{"ol", "testbed", "relay", "-p", t.dir}, t.log(relayName), forGood)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := childEnded(pid); err != nil {
			return fmt.Errorf("start relay: %w\n%s", err, tailOf(t.log(relayName), lastLines))
		}
		if holder, err := lockHolder(dir); err == nil && holder == pid {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			endChild(pid)
			return fmt.Errorf("start relay: %w", ctx.Err())
		}
	}
}
