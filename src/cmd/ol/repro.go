package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/repro"
)

func reproCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "repro",
		Usage:     "reproduce tables and figures of the CIDRE paper, and say which claims hold",
		ArgsUsage: "[FIGURE...]",
		Description: "Without a figure all are reproduced. Figures are simulated: no root, no worker.\n\n" +
			"  ol repro --quick              all, on 10 minutes of each workload, 3 seeds\n" +
			"  ol repro fig12 fig15          two figures, on half an hour, 5 seeds\n" +
			"  ol repro fig12 --azure s2-sigma1 -o results-s2\n" +
			"  ol repro --testbed            TTL to CIDRE on real sandboxes (root)\n\n" +
			"What was simulated is kept under the results: an interrupted run goes on where it\n" +
			"was. Claims that fail are results, not errors: the exit code is 0, or 6 with --strict.",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "quick", Usage: "10 minutes of each workload and 3 seeds, for all figures under 10 minutes on two cores"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write results into `DIR`", Value: "results"},
			&cli.IntFlag{Name: "seeds", Usage: "runs with `N` different seeds; 0 takes 5, 3 with --quick, 1 with --testbed or for a trace of invocations, which no seed changes"},
			&cli.StringFlag{Name: "azure", Usage: "`WORKLOAD` that stands for the paper's Azure sample: " + strings.Join(repro.Workloads(), ", ") + ", or a file", Value: repro.FullScene().Azure},
			&cli.StringFlag{Name: "fc", Usage: "`WORKLOAD` that stands for its Alibaba FC sample", Value: repro.FullScene().FC},
			&cli.IntFlag{Name: "parallel", Usage: "simulations at a time; 0 takes one for each core"},
			&cli.BoolFlag{Name: "strict", Usage: "exit with 6 if a claim fails"},
			&cli.BoolFlag{Name: "any-build", Usage: "take simulations that another build of ol has kept"},
			jsonFlag(),
		}, reproBedFlags()...),
		Subcommands: []*cli.Command{reproListCommand(s), reproClaimsCommand(s), reproValidateCommand(s)},
		Action:      func(c *cli.Context) error { return reproRun(s, c) },
	}
}

func reproListCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list what can be reproduced",
		Flags: []cli.Flag{wideFlag(), jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			return reproList(s, c)
		},
	}
}

// reproEntry is a line of the list.
type reproEntry struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Where  string `json:"where"`
	Ran    string `json:"paper_ran_on"`
	Points int    `json:"simulations"` // a seed
	Claims int    `json:"claims"`
}

func reproList(s streams, c *cli.Context) error {
	scene := repro.FullScene()
	scene.Seeds = repro.Seeds(1)
	var all []reproEntry
	for _, f := range repro.Figures() {
		all = append(all, reproEntry{f.ID, f.Title, f.Where, f.Ran, len(repro.Points([]repro.Figure{f}, scene)), len(f.Claims(scene))})
	}
	if c.Bool("json") {
		return s.printJSON(all)
	}
	s.fitted([]column{
		named(figures("figure", 0, all, func(e reproEntry) any { return e.ID })),
		named(figures("title", 0, all, func(e reproEntry) any { return e.Title })),
		named(figures("paper ran it on", 1, all, func(e reproEntry) any { return e.Ran })),
		figures("simulations", 0, all, func(e reproEntry) any { return e.Points }),
		figures("claims", 0, all, func(e reproEntry) any { return e.Claims }),
	}, nil, c.Bool("wide"))
	s.print("simulations: of one seed; figures share them, all together are %d", len(repro.Points(repro.Figures(), scene)))
	return nil
}

func reproRun(s streams, c *cli.Context) error {
	if c.Bool("testbed") {
		return reproTestbed(s, c)
	}
	if err := ignored(c, bedOnly(), "figures are simulated", "for replays on real sandboxes add --testbed"); err != nil {
		return err
	}
	figures, err := chosenFigures(c.Args().Slice())
	if err != nil {
		return err
	}
	scene, err := chosenScene(s, c)
	if err != nil {
		return err
	}
	dir := s.abs(c.String("out"))
	hold, err := holdResults(dir)
	if err != nil {
		return err
	}
	defer hold.Close() //nolint:errcheck // it ends with the process
	all, data, err := reproduce(s, c, figures, scene, dir)
	if err != nil {
		return err
	}
	if err := repro.Write(dir, all, data); err != nil {
		return fail(codeFailed, "write results", err, "what was simulated is kept: mend it and type the same again")
	}
	return reproVerdict(s, c, dir, scene, all)
}

// reproVerdict says what was found.
func reproVerdict(s streams, c *cli.Context, dir string, scene repro.Scene, all []repro.Outcome) error {
	judged := repro.AllJudged(all)
	if c.Bool("json") {
		if err := s.printJSON(reproReport(scene, judged)); err != nil {
			return err
		}
	} else {
		printVerdicts(s, all)
	}
	g, err := repro.Gather(dir)
	if err != nil {
		return fail(codeFailed, "gather results", err, "")
	}
	for _, w := range g.Warnings() {
		s.say("warning: %s", w)
	}
	s.say("results: %s", filepath.Join(dir, "index.html"))
	if n := repro.Count(judged, repro.Fail); n > 0 && c.Bool("strict") {
		return fail(codeClaim, plural(n, "claim fails", "claims fail"), nil, "docs/reproduction.md says why")
	}
	return nil
}

// chosenFigures finds figures by their names; none means all.
func chosenFigures(words []string) ([]repro.Figure, error) {
	if len(words) == 0 || len(words) == 1 && words[0] == "all" {
		return repro.Figures(), nil
	}
	var chosen []repro.Figure
	for _, word := range words {
		f, ok := repro.Find(word)
		if !ok {
			hint := "see what there is: ol repro list"
			if near := nearest(word, repro.IDs(repro.Figures())); near != "" {
				hint = "the nearest is " + near + "; " + hint
			}
			return nil, usage(hint, "there is no figure %q", word)
		}
		chosen = append(chosen, f)
	}
	return repro.InOrder(chosen), nil
}

// holdResults takes a directory of results for this run alone.
func holdResults(dir string) (io.Closer, error) {
	if err := writable(dir); err != nil {
		return nil, fail(codeUsage, "prepare results", err, "choose another directory: -o DIR")
	}
	hold, err := repro.Hold(dir)
	var held *repro.HeldError
	switch {
	case errors.As(err, &held):
		return nil, fail(codeFailed, "prepare results", err, "wait until it has ended, or choose another directory: -o DIR")
	case err != nil:
		return nil, fail(codeFailed, "prepare results", err, "choose another directory: -o DIR")
	}
	return hold, nil
}

// writable makes a directory and tries it.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory of results: %w", err)
	}
	f, err := os.CreateTemp(dir, ".try-*")
	if err != nil {
		return fmt.Errorf("write into directory of results: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// reproduce simulates what figures need and draws them.
func reproduce(s streams, c *cli.Context, figures []repro.Figure, scene repro.Scene, dir string) ([]repro.Outcome, *repro.Data, error) {
	build, err := repro.BuildID()
	if err != nil {
		return nil, nil, fail(codeFailed, "identify this program", err, "")
	}
	points := repro.Points(figures, scene)
	parallel := c.Int("parallel")
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	s.say("%s: %s", plural(len(figures), "figure", "figures"), scene)
	bar := newProgress(s, len(points))
	cells := &repro.Cells{Dir: filepath.Join(dir, "cells"), Build: build, AnyBuild: c.Bool("any-build")}
	measured, err := repro.Run(c.Context, points, cells, parallel, func(int, int) { bar.add() })
	bar.end()
	switch {
	case errors.Is(err, context.Canceled):
		return nil, nil, fail(codeInterrupted, "reproduce", errors.New("interrupted"), "what was simulated is kept: the same command goes on from there")
	case err != nil:
		return nil, nil, simulationFailure(err)
	}
	data := &repro.Data{Scene: scene, Cells: measured, Build: build}
	all, err := repro.Reproduce(figures, data)
	if err != nil {
		return nil, nil, fail(codeFailed, "reproduce", err, "")
	}
	return all, data, nil
}
