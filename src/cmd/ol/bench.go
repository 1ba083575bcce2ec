package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/bench"
)

func benchCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "bench",
		Usage: "measure this machine and this build, or load a worker",
		Subcommands: append([]*cli.Command{
			{
				Name:  "bars",
				Usage: "check every performance bar (needs root and a quiet machine)",
				Description: "Bars are ratios inside one run, or times relaxed by how slow the machine is\n" +
					"in that run.\n" +
					"Exit code 1 if one is missed.",
				Flags: []cli.Flag{
					jsonFlag(),
					&cli.StringFlag{Name: "only", Usage: "only groups whose name contains this: " + groupNames()},
					&cli.StringFlag{Name: "base", Usage: "`DIR` of a base image with numpy and pandas, for the group zygote; by default this machine's own or a new one"},
					&cli.StringFlag{Name: "abuse", Usage: "only abuses whose name contains this, for the group neighbours"},
					&cli.StringFlag{Name: "policy", Usage: "preset of the workers", Value: "cidre"},
				},
				Action: func(c *cli.Context) error {
					if err := wantArgs(c, 0, 0, ""); err != nil {
						return err
					}
					return benchBars(s, c)
				},
			},
			floorCommand(s),
			soakCommand(s),
			proxyCommand(s),
			emulatedCommand(s),
			bareProxyCommand(s),
		}, loadCommands(s)...),
	}
}

// bencher measures one group of bars after the other in a directory of its own.
type bencher struct {
	streams streams
	dir     string
	policy  string
	base    string // with numpy and pandas; "": this machine's, or one is built
	abuse   string // part of the name of the abuses whose neighbours are measured; "": all
	bars    []bench.Bar
}

// group is a set of bars that share what they need.
type group struct {
	name    string
	root    bool // needs sandboxes
	measure func(*bencher, context.Context) error
}

func groups() []group {
	return []group{
		{"engine", false, (*bencher).engine},
		{"simulator", false, (*bencher).simulator},
		{"warm", true, (*bencher).warm},
		{"cold", true, (*bencher).cold},
		{"zygote", true, (*bencher).zygotes},
		{"burst", true, (*bencher).burst},
		{"pressure", true, (*bencher).pressure},
		{"idle", true, (*bencher).idle},
		{"isolation", true, (*bencher).isolation},
		{"neighbours", true, (*bencher).neighbours},
		{"providers", true, (*bencher).providers},
		{"replay", true, (*bencher).replays},
		{"boss", false, (*bencher).bosses},
		{"boss-python", true, (*bencher).hops},
	}
}

func groupNames() string {
	var names []string
	for _, g := range groups() {
		names = append(names, g.name)
	}
	return strings.Join(names, ", ")
}

func benchBars(s streams, c *cli.Context) error {
	if _, err := makePolicy(demoPolicy(c.String("policy"), 1)); err != nil {
		return err
	}
	only := c.String("only")
	if !slices.ContainsFunc(groups(), func(g group) bool { return strings.Contains(g.name, only) }) {
		return usage("groups are: "+groupNames()+"; leave --only out to measure all", "there is no group %q", only)
	}
	dir, err := os.MkdirTemp("", "ol-bench-")
	if err != nil {
		return fmt.Errorf("make temporary directory: %w", err)
	}
	defer os.RemoveAll(dir)
	// The kernel ends the workers with the thread that started them. Threads
	// end here too, with the sandboxes that are made in this process, so this
	// one is kept.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b := &bencher{streams: s, dir: dir, policy: c.String("policy"), base: c.String("base"), abuse: c.String("abuse")}
	print := bench.TakeFingerprint()
	if !c.Bool("json") {
		s.print("%s", print)
	}
	if err := b.run(c.Context, only); err != nil {
		return err
	}
	if c.Bool("json") {
		err = s.printJSON(struct {
			Machine bench.Fingerprint `json:"machine"`
			Bars    []bench.Bar       `json:"bars"`
		}{print, b.bars})
	} else {
		err = bench.Write(s.out, b.bars)
	}
	if missed := bench.Missed(b.bars); err == nil && missed > 0 {
		err = fail(codeFailed, fmt.Sprintf("%d of %d bars are missed", missed, len(b.bars)), nil, "")
	}
	return err
}

// run measures the groups that were asked for. A group that cannot be measured
// is a missed bar, and the others go on.
func (b *bencher) run(ctx context.Context, only string) error {
	for _, g := range groups() {
		if !strings.Contains(g.name, only) {
			continue
		}
		if g.root {
			if err := requireRoot("measure " + g.name); err != nil {
				return err
			}
		}
		b.streams.say("measuring %s", g.name)
		if err := g.measure(b, ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			b.add(bench.Failed(g.name, err))
		}
	}
	return nil
}

func (b *bencher) add(bars ...bench.Bar) { b.bars = append(b.bars, bars...) }
