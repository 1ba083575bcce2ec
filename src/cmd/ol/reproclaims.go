package main

import (
	"errors"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/repro"
)

func reproClaimsCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "claims",
		Usage:     "print the claims of several directories of results side by side, as Markdown",
		ArgsUsage: "NAME=DIR...",
		Description: "The table of docs/reproduction.md:\n\n" +
			"  ol repro claims --why docs/data/why.csv quick=results full=results-full testbed=results-testbed",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "why", Usage: "`FILE` with the causes of claims that fail: figure,claim,why"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 1, mostResults, "NAME=DIR..."); err != nil {
				return err
			}
			return reproClaims(s, c)
		},
	}
}

// mostResults is how many columns a table has room for.
const mostResults = 8

func reproClaims(s streams, c *cli.Context) error {
	var all []repro.Judgement
	for _, arg := range c.Args().Slice() {
		name, dir, ok := strings.Cut(arg, "=")
		if !ok {
			return usage("write it so: quick=results", "%q names no directory", arg)
		}
		j, err := repro.ReadJudgement(name, s.abs(dir))
		if err != nil {
			return judgementFailure(name, dir, err)
		}
		all = append(all, j)
	}
	causes := repro.Causes{}
	if path := c.String("why"); path != "" {
		f, err := os.Open(s.abs(path))
		if err != nil {
			return fail(codeUsage, "read causes", err, "")
		}
		defer f.Close() //nolint:errcheck // read only
		if causes, err = repro.ReadCauses(f); err != nil {
			return fail(codeUsage, "read causes", err, "")
		}
	}
	if c.Bool("json") {
		return s.printJSON(explained(all, causes))
	}
	return repro.WriteClaimTable(s.out, all, causes)
}

// judgementFailure says how to make results that can stand in one column.
func judgementFailure(name, dir string, err error) error {
	var (
		mixed *repro.MixedError
		old   *repro.OldError
	)
	next := "make them first: ol repro -o " + dir
	switch {
	case errors.As(err, &mixed):
		next = mixed.Again()
	case errors.As(err, &old):
		next = "judge anew what was simulated, with the flags of then: ol repro --any-build -o " + dir
	}
	return fail(codeUsage, "read results of "+name, err, next)
}

// explainedClaim is a claim as one directory of results has it, and what makes it fail.
type explainedClaim struct {
	repro.Judged
	Cause string `json:"cause,omitempty"` // a letter of the table of causes
}

// explained lists the claims by the name of their results.
func explained(all []repro.Judgement, causes repro.Causes) map[string][]explainedClaim {
	results := map[string][]explainedClaim{}
	for _, r := range all {
		for _, j := range r.Claims {
			results[r.Name] = append(results[r.Name], explainedClaim{j, causes.Of(j.Figure, j.Text)})
		}
	}
	return results
}
