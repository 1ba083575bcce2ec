package main

import (
	"errors"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/repro"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/trace"
)

// chosenScene reads the flags that say what is simulated, and opens its
// workloads before anything is.
func chosenScene(s streams, c *cli.Context) (repro.Scene, error) {
	scene := repro.FullScene()
	if c.Bool("quick") {
		scene = repro.QuickScene()
	}
	seeds := c.Int("seeds")
	if seeds < 0 {
		return scene, usage("", "--seeds must not be negative")
	} else if seeds > 0 {
		scene.Seeds = repro.Seeds(seeds)
	}
	scene.Azure, scene.FC = c.String("azure"), c.String("fc")
	for _, name := range []*string{&scene.Azure, &scene.FC} {
		seeded, err := chosenWorkload(s, name, scene.Minutes)
		switch {
		case err != nil:
			return scene, err
		case !seeded && seeds > 1:
			return scene, usage("leave out --seeds: it is simulated once, and values have no interval", "--seeds %d: %s is one recorded trace, which no seed changes", seeds, *name)
		case !seeded:
			scene.OneTrace, scene.Seeds = true, repro.Seeds(1)
		}
	}
	return scene, nil
}

// chosenWorkload finds a workload before anything is simulated, makes a path
// absolute, and tells whether seeds change it.
func chosenWorkload(s streams, name *string, minutes int) (seeded bool, err error) {
	if !repro.Shipped(*name) {
		path := s.abs(*name)
		if _, err := os.Stat(path); err == nil || strings.ContainsAny(*name, "./") {
			*name = path
		}
	}
	w, err := repro.FindWorkload(*name)
	if err == nil {
		err = w.Check(minutes)
	}
	if err != nil {
		return false, workloadFailure(err, minutes)
	}
	return w.Source.Seeded(), nil
}

// workloadFailure is about what was typed: a name, a path, or minutes that a
// trace does not have.
func workloadFailure(err error, minutes int) error {
	var (
		unknown *repro.UnknownWorkloadError
		row     *trace.RowError
		varied  *trace.VariationError
	)
	switch {
	case errors.As(err, &unknown):
		hint := "known: " + strings.Join(repro.Workloads(), ", ") + ", draw-1 to draw-99, or a path"
		if near := nearest(unknown.Name, repro.Workloads()); near != "" {
			hint = "the nearest is " + near + "; " + hint
		}
		return usage(hint, "%v", err)
	case errors.As(err, &row), errors.As(err, &varied):
		return simFailure("read trace", err)
	case errors.Is(err, os.ErrNotExist):
		return fail(codeUsage, "read trace", err, "known without a file: "+strings.Join(repro.Workloads(), ", "))
	case minutes > 0:
		return fail(codeUsage, "read trace", err, "a trace that is shorter than 10 minutes is taken whole without --quick; docs/simulator.md has the forms of traces")
	}
	return fail(codeUsage, "read trace", err, "docs/simulator.md has the forms of traces")
}

// simulationFailure is simFailure with what ol repro can be told.
func simulationFailure(err error) error {
	var large *sim.TooLargeError
	if errors.As(err, &large) {
		return fail(codeUsage, "reproduce", err, "take a workload whose functions have room in the cache: --azure, --fc")
	}
	return simFailure("reproduce", err)
}
