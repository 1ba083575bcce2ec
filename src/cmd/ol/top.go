package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
)

func topCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:        "top",
		Usage:       "show what a worker's sandboxes do, again and again",
		Description: "On a terminal it goes on until it is interrupted; elsewhere it shows one moment.",
		Flags: []cli.Flag{
			pathFlag(), &cli.BoolFlag{Name: "json", Usage: "one JSON object a moment"},
			&cli.DurationFlag{Name: "interval", Aliases: []string{"i"}, Usage: "time between two moments", Value: time.Second},
			&cli.IntFlag{Name: "count", Aliases: []string{"n"}, Usage: "how many moments to show; 0 goes on"},
		},
		Action: func(c *cli.Context) error { return top(s, c) },
	}
}

// moment is what a worker does now.
type moment struct {
	At        time.Time     `json:"at"`
	InFlight  int           `json:"in_flight"`  // requests that wait or run
	PerSecond float64       `json:"per_second"` // requests answered since the moment before; 0 at the first
	UsedMB    int64         `json:"used_mb"`
	PoolMB    int64         `json:"pool_mb"`
	Functions []topFunction `json:"functions"` // most busy ones first

	answered float64
}

// topFunction are the sandboxes of one lambda.
type topFunction struct {
	Name      string  `json:"name"`
	Sandboxes int     `json:"sandboxes"`
	Busy      int     `json:"busy"`
	Starting  int     `json:"starting"`
	Frozen    int     `json:"frozen"`
	LimitMB   int64   `json:"limit_mb"` // charged to the pool
	UsedMB    float64 `json:"used_mb"`  // of it in use
	Uses      int64   `json:"uses"`     // requests that its living sandboxes ever ran
}

func top(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, ""); err != nil {
		return err
	}
	if c.Duration("interval") <= 0 {
		return usage("give it a time: --interval 1s", "--interval has to be longer than nothing")
	}
	n, err := runningNode(c.Context, s, workerDir(s, c), pathHint(c), "look at worker")
	if err != nil {
		return err
	}
	count := c.Int("count")
	if !c.IsSet("count") && s.width == 0 {
		count = 1
	}
	err = watchTop(c.Context, s, n, count, c.Duration("interval"), c.Bool("json"))
	if c.Context.Err() != nil && errors.Is(err, c.Context.Err()) {
		return nil // how one leaves it
	}
	return err
}

// watchTop shows count moments, all that come if that is 0.
func watchTop(ctx context.Context, s streams, n node, count int, interval time.Duration, asJSON bool) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var last *moment
	for i := 1; ; i++ {
		m, err := lookTop(ctx, n, last)
		if err == nil {
			err = m.show(s, asJSON, count != 1)
		}
		if err != nil || i == count {
			return err
		}
		last = m
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lookTop asks the worker.
func lookTop(ctx context.Context, n node, last *moment) (*moment, error) {
	var d api.Debug
	var stats api.Stats
	if err := errors.Join(n.getJSON(ctx, api.PathDebug, &d), n.getJSON(ctx, api.PathStats, &stats)); err != nil {
		return nil, fail(codeFailed, "look at worker", err, "")
	}
	m := &moment{
		At: time.Now(), InFlight: int(stats[api.StatInFlight]), UsedMB: d.UsedMB, PoolMB: d.PoolMB,
		Functions: sumFunctions(d.Sandboxes), answered: stats[api.StatRun+".cnt"],
	}
	if last != nil {
		m.PerSecond = (m.answered - last.answered) / m.At.Sub(last.At).Seconds()
	}
	return m, nil
}

// sumFunctions counts sandboxes by lambda.
func sumFunctions(all []api.SandboxState) []topFunction {
	byName := map[string]*topFunction{}
	for _, b := range all {
		f := byName[b.Function]
		if f == nil {
			f = &topFunction{Name: b.Function}
			byName[b.Function] = f
		}
		f.Sandboxes++
		f.LimitMB += b.LimitMB
		f.UsedMB += float64(b.MemBytes) / (1 << 20)
		f.Uses += b.Uses
		switch {
		case b.State == "busy":
			f.Busy++
		case b.State == "provisioning":
			f.Starting++
		case b.Frozen:
			f.Frozen++
		}
	}
	out := make([]topFunction, 0, len(byName))
	for _, f := range byName {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b topFunction) int {
		return cmp.Or(cmp.Compare(b.Busy, a.Busy), cmp.Compare(b.Sandboxes, a.Sandboxes), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// clearScreen moves to the upper left and clears what follows (ECMA-48).
const clearScreen = "\x1b[H\x1b[J"

func (m *moment) show(s streams, asJSON, again bool) error {
	if asJSON {
		return s.printJSON(m)
	}
	if again && s.width > 0 {
		fmt.Fprint(s.out, clearScreen)
	}
	s.print("%s  %d requests in flight, %.1f answered a second, %d of %d MB charged",
		m.At.Format(time.TimeOnly), m.InFlight, m.PerSecond, m.UsedMB, m.PoolMB)
	if len(m.Functions) == 0 {
		s.print("no sandboxes")
		return nil
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"lambda", "sandboxes", "busy", "starting", "frozen", "limit MB", "used MB", "uses"})
	for _, f := range m.Functions {
		t.AppendRow(table.Row{f.Name, f.Sandboxes, f.Busy, f.Starting, f.Frozen, f.LimitMB, fmt.Sprintf("%.1f", f.UsedMB), f.Uses})
	}
	s.print("%s", t.Render())
	return nil
}
