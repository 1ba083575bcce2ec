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
	}
}
