package main

import (
	"github.com/urfave/cli/v2"
)

func workerCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "worker",
		Usage: "make, start and stop a worker",
		Subcommands: []*cli.Command{
			workerInitCommand(s),
			workerUpCommand(s),
			workerDownCommand(s),
			workerStatusCommand(s),
			workerCleanCommand(s),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return dispatchUnknown(c, "ol worker", c.Command.Subcommands)
			}
			return usage("see what there is: ol worker --help", `ol worker alone started one in the older OpenLambda: today it is "ol worker up"`)
		},
	}
}
