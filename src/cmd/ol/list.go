package main

import (
	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
)

func listCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list the lambdas that a worker, or a cluster, knows",
		Flags: []cli.Flag{pathFlag(), jsonFlag(), bossFlag(), tokenFlag(), caFlag(), certFlag(), keyFlag()},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			names, err := lambdaNames(s, c)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return s.printJSON(names)
			}
			for _, name := range names {
				s.print("%s", name)
			}
			if len(names) == 0 {
				s.say("no lambda is installed; install one: ol admin install%s DIRECTORY", pathHint(c))
			}
			return nil
		},
	}
}

func lambdaNames(s streams, c *cli.Context) ([]string, error) {
	names := []string{}
	if c.String("boss") != "" {
		b, err := findBoss(s, c, defaultBossDir)
		if err != nil {
			return nil, err
		}
		err = b.getJSON(c.Context, api.PathRegistry, &names)
		return names, err
	}
	n, err := runningNode(c.Context, s, workerDir(s, c), pathHint(c), "list lambdas")
	if err != nil {
		return nil, err
	}
	if err := n.getJSON(c.Context, api.PathRegistry, &names); err != nil {
		return nil, fail(codeFailed, "list lambdas", err, "")
	}
	return names, nil
}
