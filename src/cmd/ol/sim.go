package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
	"github.com/open-lambda/open-lambda/src/trace"
)

func simCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "sim",
		Usage: "simulate policies on a trace, with the worker's own scheduler",
		Subcommands: []*cli.Command{
			simRunCommand(s),
			simStatsCommand(s),
		},
	}
}

// simFailure gives bad input the exit code of bad usage. Everything else has
// failed.
func simFailure(what string, err error) error {
	var (
		row     *trace.RowError
		unknown *catalog.UnknownError
		param   *study.ParamError
		large   *sim.TooLargeError
	)
	switch {
	case errors.As(err, &row):
		return fail(codeUsage, what, err, "mend the row, or see docs/simulator.md for the forms of traces")
	case errors.As(err, &unknown):
		next := "see all of them: ol policy list"
		if near := nearest(unknown.Name, unknown.Known); near != "" {
			next = fmt.Sprintf("did you mean %q? %s", near, next)
		}
		return fail(codeUsage, what, err, next)
	case errors.As(err, &param):
		next := "see docs/simulator.md for the parameters of policies"
		if near := nearest(param.Key, param.Known); near != "" {
			next = fmt.Sprintf("did you mean %q? %s", near, next)
		}
		return fail(codeUsage, what, err, next)
	case errors.As(err, &large):
		return fail(codeUsage, what, err, "give the node more memory: --mem, in GB")
	}
	return fail(codeFailed, what, err, "")
}
