package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/testbed"
)

func testbedPathFlag() cli.Flag {
	return &cli.StringFlag{Name: "path", Aliases: []string{"p"}, Usage: "directory of the testbed", Value: "default-testbed"}
}

func testbedCommand(s streams) *cli.Command {
	one := func(name, usage string, do hostAction) *cli.Command {
		return &cli.Command{
			Name: name, Usage: usage, ArgsUsage: "HOST", Flags: []cli.Flag{testbedPathFlag(), jsonFlag()},
			Action: func(c *cli.Context) error { return onHost(s, c, name, do) },
		}
	}
	signal := func(sig unix.Signal) hostAction {
		return func(_ context.Context, t *testbedState, h testbed.Host) error { return t.signal(h.Name, sig) }
	}
	return &cli.Command{
		Name:  "testbed",
		Usage: "a cluster on this machine: hosts with addresses of their own (needs root)",
		Subcommands: []*cli.Command{
			{
				Name: "up", Usage: "make the hosts and start workers and bosses on them",
				Description: "What an earlier testbed in the same directory left is removed first.",
				Flags: []cli.Flag{
					testbedPathFlag(), optionsFlag(), jsonFlag(),
					&cli.IntFlag{Name: "nodes", Usage: "workers", Value: 3},
					&cli.IntFlag{Name: "bosses", Usage: "1, or 3 of which one may be lost", Value: 1},
					&cli.DurationFlag{Name: "delay", Usage: "hold up what hosts send one another for this `TIME`, each way: 2ms"},
					&cli.StringFlag{Name: "placer", Usage: "how bosses choose workers", Value: "hash"},
				},
				Action: func(c *cli.Context) error { return testbedUp(s, c) },
			},
			{Name: "down", Usage: "stop everything and remove it", Description: "Succeeds when there is nothing.", Flags: []cli.Flag{testbedPathFlag(), jsonFlag()}, Action: func(c *cli.Context) error { return testbedDown(s, c) }},
			{Name: "status", Usage: "show the hosts", Flags: []cli.Flag{testbedPathFlag(), jsonFlag()}, Action: func(c *cli.Context) error { return testbedStatus(s, c) }},
			{
				Name: "partition", Usage: "cut a host off from all others, or from those that are named", ArgsUsage: "HOST [OTHER...]",
				Flags: []cli.Flag{testbedPathFlag(), jsonFlag()}, Action: func(c *cli.Context) error { return partition(s, c) },
			},
			one("heal", "connect a host with all others again", func(_ context.Context, t *testbedState, h testbed.Host) error { return t.network().Heal(h, t.Hosts) }),
			one("kill", "kill the process on a host (kill -9)", signal(unix.SIGKILL)),
			one("stop", "stop the process on a host, which may drain", signal(unix.SIGINT)),
			relayCommand(s),
			one("start", "start the process on a host again", func(ctx context.Context, t *testbedState, h testbed.Host) error { return t.start(ctx, s, h) }),
		},
	}
}

func testbedUp(s streams, c *cli.Context) error {
	if err := errors.Join(wantArgs(c, 0, 0, ""), checkSizes(c)); err != nil {
		return err
	}
	if err := requireRoot("make testbed"); err != nil {
		return err
	}
	if err := requireFit(c.Context, "make testbed", true); err != nil {
		return err
	}
	dir := s.abs(c.String("path"))
	lock, err := reserveTestbed("make testbed", dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	for _, step := range []func() error{
		func() error { return requireOurs(dir) }, func() error { return removeTestbed(c.Context, s, dir) }, func() error { return forget(dir) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	t, err := newTestbed(dir, c)
	if err == nil {
		err = t.up(c.Context, s)
	}
	if err != nil {
		// The logs in the directory stay: they say why.
		return errors.Join(fail(codeFailed, "make testbed", err, "see the logs in "+dir), removeTestbed(c.Context, s, dir))
	}
	return showTestbed(s, c, t)
}

func checkSizes(c *cli.Context) error {
	if n := c.Int("nodes"); n < 1 || n > maxTestbedNodes {
		return usage("", "testbed: --nodes is %d, it must be 1 to %d", n, maxTestbedNodes)
	}
	if n := c.Int("bosses"); n != 1 && n != 3 {
		return usage("", "testbed: --bosses is %d, it must be 1 or 3: two cannot outvote one another", n)
	}
	if d := c.Duration("delay"); d < 0 || d > maxDelay {
		return usage("", "testbed: --delay is %v, it must be 0 to %v", d, maxDelay)
	}
	return nil
}

// maxDelay leaves a heartbeat, there and back, far below the time after which
// a worker counts as lost.
const maxDelay = 500 * time.Millisecond

func testbedDown(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, ""); err != nil {
		return err
	}
	if err := requireRoot("remove testbed"); err != nil {
		return err
	}
	dir := s.abs(c.String("path"))
	lock, err := reserveTestbed("remove testbed", dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := removeTestbed(c.Context, s, dir); err != nil {
		return err
	}
	if err := forget(dir); err != nil {
		return err
	}
	if err := removeDir(dir); err != nil {
		return fail(codeFailed, "remove testbed", err, "")
	}
	if c.Bool("json") {
		return s.printJSON(map[string]string{"dir": dir})
	}
	s.say("nothing is left of a testbed in %s", dir)
	return nil
}

func testbedStatus(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, ""); err != nil {
		return err
	}
	t, err := openTestbed(s.abs(c.String("path")))
	if err != nil {
		return err
	}
	return showTestbed(s, c, t)
}

// hostState is a host as status shows it.
type hostState struct {
	Name      string `json:"name"`
	URL       string `json:"url"`
	PID       int    `json:"pid"` // 0: nothing runs
	Connected bool   `json:"connected"`
	Log       string `json:"log"`
}

func showTestbed(s streams, c *cli.Context, t *testbedState) error {
	var all []hostState
	n := t.network()
	for _, h := range t.Hosts {
		pid, err := lockHolder(t.hostDir(h.Name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fail(codeFailed, "look at "+h.Name, err, "")
		}
		all = append(all, hostState{h.Name, t.url(h), pid, n.Connected(h.Name), t.log(h.Name)})
	}
	if c.Bool("json") {
		return s.printJSON(all)
	}
	for _, h := range all {
		what := "runs"
		switch {
		case h.PID == 0:
			what = "does not run"
		case !h.Connected:
			what = "runs, cut off"
		}
		s.print("%-8s  %-24s  %s", h.Name, h.URL, what)
	}
	s.say("try: ol nodes list --boss %s --token-file %s", t.bosses(t.url), t.tokenFile())
	return nil
}

// hostAction changes one host of a testbed.
type hostAction func(context.Context, *testbedState, testbed.Host) error

func onHost(s streams, c *cli.Context, verb string, do hostAction) error {
	if err := wantArgs(c, 1, 1, "HOST"); err != nil {
		return err
	}
	t, hosts, err := namedHosts(s, c, verb)
	if err != nil {
		return err
	}
	h := hosts[0]
	if err := do(c.Context, t, h); err != nil {
		return fail(codeFailed, verb+" "+h.Name, err, "see its log: "+t.log(h.Name))
	}
	return doneWith(s, c, verb, h)
}

// namedHosts opens the testbed and finds the hosts that the arguments name.
func namedHosts(s streams, c *cli.Context, verb string) (*testbedState, []testbed.Host, error) {
	if err := requireRoot(verb + " host"); err != nil {
		return nil, nil, err
	}
	t, err := openTestbed(s.abs(c.String("path")))
	if err != nil {
		return nil, nil, err
	}
	var hosts []testbed.Host
	for _, name := range c.Args().Slice() {
		h, ok := t.host(name)
		if !ok {
			return nil, nil, fail(codeNotFound, verb+" "+name, errors.New("there is no such host"), "see them: ol testbed status")
		}
		hosts = append(hosts, h)
	}
	return t, hosts, nil
}

func doneWith(s streams, c *cli.Context, verb string, h testbed.Host) error {
	if c.Bool("json") {
		return s.printJSON(map[string]string{"host": h.Name, "done": verb})
	}
	s.say("%s: %s", h.Name, verb)
	return nil
}

// partition cuts the first host off from the others that are named, or from
// all.
func partition(s streams, c *cli.Context) error {
	if err := wantArgs(c, 1, maxTestbedNodes, "HOST [OTHER...]"); err != nil {
		return err
	}
	t, hosts, err := namedHosts(s, c, "partition")
	if err != nil {
		return err
	}
	if len(hosts) == 1 {
		err = t.network().Partition(hosts[0].Name)
	}
	for _, other := range hosts[1:] {
		err = errors.Join(err, t.network().Part(hosts[0], other))
	}
	if err != nil {
		return fail(codeFailed, "partition "+hosts[0].Name, err, "see what runs: ol testbed status")
	}
	return doneWith(s, c, "partition", hosts[0])
}

// openTestbed finds the testbed that is up in a directory.
func openTestbed(dir string) (*testbedState, error) {
	t, err := loadTestbed(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail(codeNotRunning, "find testbed", fmt.Errorf("there is none in %s", dir), "make one: ol testbed up")
	}
	return t, err
}

// waitStopped tells whether nothing holds a directory.
func waitStopped(dir string) bool {
	pid, err := lockHolder(dir)
	return err == nil && pid == 0
}

// testbedFile marks a testbed's directory.
func testbedFile(dir string) string { return filepath.Join(dir, "testbed.json") }
