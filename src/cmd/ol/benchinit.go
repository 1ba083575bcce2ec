package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/worker/registry"
)

// benchFunctions is how many lambdas of each kind are made unless it is said.
// OpenLambda makes 65,536, which a worker that starts would all look at.
const benchFunctions = 1024

func benchInitCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "make lambdas for py64-seq and the like in a worker's registry",
		Description: "bench-py-N answers with its number; bench-pd-N correlates columns of numbers\nwith numpy and pandas.",
		Flags: []cli.Flag{
			pathFlag(), jsonFlag(),
			&cli.IntFlag{Name: "functions", Aliases: []string{"n"}, Usage: "how many of each; py64k and pd64k need 65536", Value: benchFunctions},
		},
		Action: func(c *cli.Context) error { return benchInit(s, c) },
	}
}

func benchInit(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, ""); err != nil {
		return err
	}
	if c.Int("functions") < 1 {
		return usage("leave it out for 1024", "--functions has to be positive")
	}
	n, err := openNode(s, workerDir(s, c))
	if err != nil {
		return fail(codeNotFound, "make lambdas", err, "make the worker's directory first: ol worker init"+pathHint(c))
	}
	r, err := registry.Open(c.Context, n.config.Registry, slog.New(slog.DiscardHandler))
	if err != nil {
		return fail(codeFailed, "make lambdas", err, "")
	}
	made, err := fillRegistry(c.Context, r, c.Int("functions"))
	if err = errors.Join(err, r.Close()); err != nil {
		return fail(codeFailed, "make lambdas", err, "")
	}
	if c.Bool("json") {
		return s.printJSON(map[string]int{"lambdas": made})
	}
	s.say("made %d lambdas in %s", made, n.config.Registry)
	return nil
}

// fillRegistry puts n lambdas of each kind, and returns how many it put.
func fillRegistry(ctx context.Context, r *registry.Registry, n int) (int, error) {
	pandas, err := packSource(pandasSource)
	if err != nil {
		return 0, err
	}
	for i := range n {
		plain, err := packSource(fmt.Sprintf("def f(event):\n    return %d\n", i))
		if err != nil {
			return 2 * i, err
		}
		err = r.Put(ctx, benchLambda("py", i), bytes.NewReader(plain))
		if err = errors.Join(err, r.Put(ctx, benchLambda("pd", i), bytes.NewReader(pandas))); err != nil {
			return 2 * i, err
		}
	}
	return 2 * n, nil
}

const pandasSource = `# ol-install: numpy,pandas
import numpy
import pandas

frame = None


def f(event):
    global frame
    if frame is None:
        frame = pandas.DataFrame(numpy.random.random((1000, 10)))
    one, other = numpy.random.randint(10, size=2)
    return float(frame[one].corr(frame[other]))
`

// jsonLine is one line for programs.
func jsonLine(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write result: %w", err)
	}
	return append(text, '\n'), nil
}
