package main

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/sim/parity"
)

// codeClaim ends a command whose check of a claim failed.
const codeClaim = 6

func simParityCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "parity",
		Usage: "compare with the counts of faascache-sim, under its rules, on one exact input",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			rows, err := parity.Compare(c.Context)
			if err != nil {
				return simFailure("compare", err)
			}
			if c.Bool("json") {
				err = s.printJSON(rows)
			} else {
				printParity(s, rows)
			}
			if err != nil {
				return err
			}
			for _, r := range rows {
				if !r.Exact() {
					return fail(codeClaim, fmt.Sprintf("%s with %d MB differs from what it must give", r.Order, r.PoolMB), nil, "")
				}
			}
			return nil
		},
	}
}

func printParity(s streams, rows []parity.Row) {
	s.print("20,000 calls from S1; hits / misses / dropped. The peer's own figures follow the")
	s.print("order inside its heap where priorities tie; ours break ties by creation.")
	t := plainTable(table.Row{"order", "MB", "faascache-sim", "same rules, ties by creation", "ours", "exact"}, 1)
	cell := func(c parity.Count) string { return fmt.Sprintf("%d / %d / %d", c.Hits, c.Misses, c.Dropped) }
	for _, r := range rows {
		t.AppendRow(table.Row{r.Order, r.PoolMB, cell(r.Peer), cell(r.Want), cell(r.Got), r.Exact()})
	}
	s.print("%s", t.Render())
}
