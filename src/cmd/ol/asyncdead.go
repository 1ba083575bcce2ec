package main

import (
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
)

func deadList(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, ""); err != nil {
		return err
	}
	b, err := findBoss(s, c, defaultBossDir)
	if err != nil {
		return err
	}
	all := []api.AsyncState{}
	if err := b.getJSON(c.Context, api.PathDead, &all); err != nil {
		return err
	}
	if c.Bool("json") {
		return s.printJSON(all)
	}
	if len(all) == 0 {
		s.say("there are no dead letters")
		return nil
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"id", "lambda", "given up", "attempts", "why"})
	for _, d := range all {
		t.AppendRow(table.Row{d.ID, d.Function, d.Changed.Local().Format(time.DateTime), d.Attempts, d.Why})
	}
	s.print("%s", t.Render())
	return nil
}
