package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/worker"
)

func policyCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "policy",
		Usage: "look at the scheduling policies",
		Subcommands: []*cli.Command{{
			Name:  "list",
			Usage: "list presets, scalers and evictors",
			Description: "A preset is a scaler with an evictor; each can be replaced:\n" +
				"  ol worker up -o policy.preset=cidre,policy.evictor=lru\n" +
				"The letter says how sure the description is: A from code or a formula in print,\n" +
				"B from a public summary, C in the style of.",
			Flags: []cli.Flag{jsonFlag()},
			Action: func(c *cli.Context) error {
				if err := wantArgs(c, 0, 0, ""); err != nil {
					return err
				}
				return listPolicies(s, c.Bool("json"))
			},
		}},
	}
}

func listPolicies(s streams, asJSON bool) error {
	if asJSON {
		return s.printJSON(catalog.Entries())
	}
	kind := ""
	for _, e := range catalog.Entries() {
		if e.Kind != kind {
			kind = e.Kind
			s.print("%ss:", kind)
		}
		s.print("  %-16s %-3s  %s%s", e.Name, e.Confidence, e.Summary, needs(e.Caps))
	}
	return nil
}

// needs says what a policy wants that not every provider has.
func needs(caps []string) string {
	if len(caps) == 0 {
		return ""
	}
	return " (needs " + strings.Join(caps, " and ") + ")"
}

// makePolicy makes the policy that a configuration names.
func makePolicy(p config.Policy) (catalog.Policy, error) {
	made, err := worker.NewPolicy(p)
	var unknown *catalog.UnknownError
	if errors.As(err, &unknown) {
		err = fmt.Errorf("policy.%s: %w", unknown.Kind, unknownPolicy(unknown))
	}
	if err != nil {
		return made, fail(codeUsage, "choose policy", err, "see all of them: ol policy list")
	}
	return made, nil
}

func unknownPolicy(e *catalog.UnknownError) error {
	if near := nearest(e.Name, e.Known); near != "" {
		return fmt.Errorf("there is no %s %q; the nearest is %q", e.Kind, e.Name, near)
	}
	return fmt.Errorf("there is no %s %q", e.Kind, e.Name)
}
