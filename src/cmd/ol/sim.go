package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/trace"
)

func simCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "sim",
		Usage: "simulate policies on a trace, with the worker's own scheduler",
		Subcommands: []*cli.Command{
			simRunCommand(s),
			simLessonCommand(s),
			simExplainCommand(s),
			simParityCommand(s),
			simOrderCommand(s),
			simBarCommand(s),
			simStatsCommand(s),
			simFitCommand(s),
		},
	}
}

// simFailure gives bad input the exit code of bad usage. Everything else has
// failed.
func simFailure(what string, err error) error {
	var (
		row     *trace.RowError
		unknown *catalog.UnknownError
		value   *catalog.ValueError
		large   *sim.TooLargeError
		varied  *trace.VariationError
		nothing *trace.CutError
	)
	switch {
	case errors.As(err, &row):
		return fail(codeUsage, what, err, "mend the row, or see docs/simulator.md for the forms of traces")
	case errors.As(err, &unknown), errors.As(err, &value):
		return fail(codeUsage, what, err, "see all policies and their parameters: ol policy list --json")
	case errors.As(err, &varied):
		return fail(codeUsage, what, err, "write it so: azure-like:burst=6,zipf_s=1.2")
	case errors.As(err, &nothing):
		return fail(codeUsage, what, err, "take another part of it: --first-minute, --minutes")
	case errors.As(err, &large):
		return fail(codeUsage, what, err, "give the node more memory: --mem, in GB")
	}
	return fail(codeFailed, what, err, "")
}
