package main

import (
	"net/http"
	"net/url"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
)

func nodesCommand(s streams) *cli.Command {
	flags := append(bossFlags(), jsonFlag())
	return &cli.Command{
		Name:  "nodes",
		Usage: "show the workers of a cluster, and take them out of it",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "show every worker as a boss sees it", Flags: flags, Action: func(c *cli.Context) error { return listNodes(s, c) }},
			{
				Name: "drain", Usage: "send a worker no more invocations; those that run may end", ArgsUsage: "NAME",
				Flags: flags, Action: func(c *cli.Context) error { return drainNode(s, c, "drain") },
			},
			{
				Name: "resume", Usage: "send a drained worker invocations again", ArgsUsage: "NAME",
				Flags: flags, Action: func(c *cli.Context) error { return drainNode(s, c, "resume") },
			},
		},
	}
}

func listNodes(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, ""); err != nil {
		return err
	}
	b, err := findBoss(s, c, defaultBossDir)
	if err != nil {
		return err
	}
	all := []api.NodeState{}
	if err := b.getJSON(c.Context, api.PathNodes, &all); err != nil {
		return err
	}
	if c.Bool("json") {
		return s.printJSON(all)
	}
	if len(all) == 0 {
		s.say("no worker has joined; start one: ol worker up --boss %s", b.urls[0])
		return nil
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"worker", "state", "since", "in flight", "sandboxes", "used MB", "pool MB", "sent", "url"})
	for _, n := range all {
		t.AppendRow(table.Row{n.Name, n.State, time.Since(n.Since).Round(time.Second), n.InFlight, n.Sandboxes, n.UsedMB, n.PoolMB, n.Sent, n.URL})
	}
	s.print("%s", t.Render())
	return nil
}

func drainNode(s streams, c *cli.Context, verb string) error {
	if err := wantArgs(c, 1, 1, "NAME"); err != nil {
		return err
	}
	b, err := findBoss(s, c, defaultBossDir)
	if err != nil {
		return err
	}
	name := c.Args().First()
	if _, err := b.do(c.Context, http.MethodPost, api.PathNodes+"/"+url.PathEscape(name)+"/"+verb, nil); err != nil {
		return fail(codeFailed, verb+" "+name, err, "see the workers: ol nodes list")
	}
	if c.Bool("json") {
		return s.printJSON(map[string]string{"worker": name, "done": verb})
	}
	s.say("%s: %s", name, verb)
	return nil
}
