package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"
	"go.yaml.in/yaml/v3"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/nat"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/soak"
)

// soakOptions are those of the worker under test: little memory, so that
// lambdas displace each other, and logs that keep everything.
func soakOptions() string {
	return fmt.Sprintf("mem_pool_mb=%d,registry_cache_ms=200,log_max_mb=512,pool_size=4,drain_sec=10", soak.PoolMB)
}

func soakCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "soak",
		Usage: "wear a worker out, and see whether it loses or leaks anything (needs root)",
		Description: "Starts a worker in a temporary directory and sends it requests of every kind\n" +
			"while code is replaced, sandboxes are evicted and killed, and the worker is\n" +
			"killed. Every answer is checked, counters and logs are held against what\n" +
			"clients got, and what the worker holds against what it held.\n" +
			"Exit code 1 if anything was wrong.",
		Flags: []cli.Flag{
			jsonFlag(),
			&cli.DurationFlag{Name: "length", Usage: "how long", Value: 3 * time.Minute},
			&cli.Uint64Flag{Name: "seed", Usage: "of what is sent and killed", Value: 1},
			&cli.Float64Flag{Name: "rate", Usage: "requests a second at most, to leave the machine something; 0 for no bound", Action: within("rate", 0, mostLoadRate)},
			&cli.IntFlag{Name: "faults", Usage: "percent of what the host does for sandboxes and uploads that is made to fail"},
			&cli.StringFlag{Name: "provider", Usage: "what makes sandboxes: sock or runc", Value: "sock"},
			&cli.StringFlag{Name: "network", Usage: "of lambdas: auto, none, host or nat; for nat a machine that forwards no packets gets a network namespace that does", Value: networkAuto},
			&cli.StringFlag{Name: "options", Aliases: []string{"o"}, Usage: "settings of the worker, as for ol worker up"},
		},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			return runSoak(s, c)
		},
	}
}

// leastSoak is too short for nothing: three lives and a kill.
const leastSoak = 5 * time.Second

func runSoak(s streams, c *cli.Context) error {
	cfg := soak.DefaultConfig(c.Duration("length"))
	if cfg.Length < leastSoak {
		return usage("three minutes: --length 3m", "soak: --length must be at least %v, got %v", leastSoak, cfg.Length)
	}
	if err := requireRoot("soak"); err != nil {
		return err
	}
	if err := requireFit(c.Context, "soak", true); err != nil {
		return err
	}
	if c.String("network") == sock.NetworkNAT && nat.Check() != nil {
		return soakElsewhere(s, c)
	}
	dir, err := os.MkdirTemp("", "ol-soak-")
	if err != nil {
		return fmt.Errorf("make temporary directory: %w", err)
	}
	defer os.RemoveAll(dir)
	// The kernel ends the worker with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cfg.Seed, cfg.Rate, cfg.Talk = c.Uint64("seed"), c.Float64("rate"), s.err
	cfg.Faulty = c.Int("faults") > 0
	options := fmt.Sprintf("sandbox=%s,network=%s,features.fault_percent=%d,%s",
		c.String("provider"), c.String("network"), c.Int("faults"), c.String("options"))
	report, err := soakIn(c.Context, s, cfg, filepath.Join(dir, "worker"), strings.TrimSuffix(options, ","))
	if err != nil {
		return err
	}
	return tellSoak(s, c, report)
}

func tellSoak(s streams, c *cli.Context, report *soak.Report) (err error) {
	if c.Bool("json") {
		err = s.printJSON(report)
	} else {
		err = report.Write(s.out)
	}
	if err == nil && !report.Good() {
		err = fail(codeFailed, fmt.Sprintf("soak: %d faults", report.FaultCount), nil, "")
	}
	return err
}

func soakIn(ctx context.Context, s streams, cfg soak.Config, dir, options string) (_ *soak.Report, err error) {
	n := &soakNode{streams: s, dir: dir, options: soakOptions() + "," + options}
	if err := n.start(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if w := n.worker.Load(); w != nil {
			err = errors.Join(err, w.stop())
		}
	}()
	return soak.Run(ctx, cfg, n)
}

// soakNode is a worker in a process of its own. It implements soak.Node.
type soakNode struct {
	streams streams
	dir     string
	options string
	worker  atomic.Pointer[tempWorker] // the last that ran; callers ask while it is replaced. nil: the start failed
	earlier []soak.Family              // processes of its ended lives; of the runner's goroutine
}

func (n *soakNode) start(ctx context.Context) error {
	w, err := startTempWorker(ctx, n.streams, n.dir, n.options)
	n.worker.Store(w)
	return err
}

// URL is part of soak.Node. It is empty, and requests to it fail, once the
// worker cannot be started again.
func (n *soakNode) URL() string {
	w := n.worker.Load()
	if w == nil {
		return ""
	}
	return w.node.url("")
}

// PID is part of soak.Node.
func (n *soakNode) PID() int { return n.worker.Load().pid }

// Install is part of soak.Node.
func (n *soakNode) Install(ctx context.Context, name string, settings map[string]any) error {
	text, err := yaml.Marshal(settings)
	if err != nil {
		return err
	}
	packed, err := packBuiltin("soak", text)
	if err != nil {
		return err
	}
	return n.worker.Load().install(ctx, name, packed)
}

// Log is part of soak.Node.
func (n *soakNode) Log(name string) ([]byte, error) {
	var all []byte
	for _, older := range []string{api.LogOlder, ""} {
		text, err := os.ReadFile(filepath.Join(n.worker.Load().node.config.WorkerDir, api.LogDir, name+".log"+older))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		all = append(all, text...)
	}
	return all, nil
}

func (n *soakNode) machine() soak.Machine {
	m := soak.Machine{Instance: instanceOf(n.dir)}
	m.Link, m.Table = nat.Names(m.Instance)
	for _, name := range []string{"worker/sandboxes", "worker/code", "worker/uploads", "registry"} {
		m.Dirs = append(m.Dirs, filepath.Join(n.dir, name))
	}
	return m
}

// KillSandbox is part of soak.Node.
func (n *soakNode) KillSandbox(pick func(int) int) (bool, error) { return n.machine().KillOne(pick) }

// Left is part of soak.Node.
func (n *soakNode) Left(context.Context) (soak.Left, error) {
	left, err := n.machine().Left()
	for _, f := range n.earlier {
		left.Orphans += f.Alive()
	}
	return left, err
}

// ends notes which processes a worker has that is about to end.
func (n *soakNode) ends() error {
	f, err := soak.Descendants(n.worker.Load().pid)
	n.earlier = append(n.earlier, f)
	return err
}

// Kill is part of soak.Node. Nothing is cleaned up: that is the next start's
// business.
func (n *soakNode) Kill(ctx context.Context) error {
	if err := n.ends(); err != nil {
		return err
	}
	p, err := os.FindProcess(n.worker.Load().pid)
	if err != nil {
		return err
	}
	if err := p.Kill(); err != nil {
		return fmt.Errorf("kill worker: %w", err)
	}
	if _, err := p.Wait(); err != nil {
		return fmt.Errorf("wait for killed worker: %w", err)
	}
	return n.start(ctx)
}

// Restart is part of soak.Node.
func (n *soakNode) Restart(ctx context.Context) error {
	if err := n.Stop(ctx); err != nil {
		return err
	}
	return n.start(ctx)
}

// Stop is part of soak.Node.
func (n *soakNode) Stop(context.Context) error {
	if err := n.ends(); err != nil {
		return err
	}
	endChild(n.worker.Load().pid)
	return nil
}
