package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
)

func pprofCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:        "pprof",
		Usage:       "profile a worker",
		Description: "See a profile by: go tool pprof FILE",
		Subcommands: []*cli.Command{
			profileCommand(s, "mem", "write what the worker's memory is used for", "mem.prof"),
			profileCommand(s, "cpu-start", "begin to count what the worker's time is used for", ""),
			profileCommand(s, "cpu-stop", "end that, and write it", "cpu.prof"),
		},
	}
}

// profileCommand asks the worker for something and writes the answer to a file;
// without a file there is nothing but good news.
func profileCommand(s streams, verb, what, file string) *cli.Command {
	flags := []cli.Flag{pathFlag(), jsonFlag()}
	if file != "" {
		flags = append(flags, &cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "`FILE` to write; - is standard output", Value: file})
	}
	return &cli.Command{Name: verb, Usage: what, Flags: flags, Action: func(c *cli.Context) error { return profile(s, c, verb) }}
}

func profile(s streams, c *cli.Context, verb string) error {
	if err := wantArgs(c, 0, 0, ""); err != nil {
		return err
	}
	n, err := runningNode(c.Context, s, workerDir(s, c), pathHint(c), "profile worker")
	if err != nil {
		return err
	}
	text, err := n.get(c.Context, api.PathPprof+verb, nil)
	if err != nil {
		return profileError(err, verb, pathHint(c))
	}
	out := c.String("out")
	switch {
	case out == "-":
		_, err = s.out.Write(text)
		return err
	case out != "":
		if err := os.WriteFile(s.abs(out), text, 0o644); err != nil {
			return fail(codeFailed, "write profile", err, "name another file: -o FILE")
		}
		text = fmt.Appendf(nil, "%s: %d bytes; see it by: go tool pprof %s", s.abs(out), len(text), out)
	}
	if c.Bool("json") {
		return s.printJSON(struct {
			Done string `json:"done"`
			File string `json:"file,omitempty"`
		}{verb, out})
	}
	s.say("%s", strings.TrimSpace(string(text)))
	return nil
}

// profileError says which of the other commands is wanted.
func profileError(err error, verb, hint string) error {
	next := ""
	if status := (*statusError)(nil); errors.As(err, &status) && status.status == http.StatusBadRequest {
		next = "end it: ol pprof cpu-stop" + hint
		if verb == "cpu-stop" {
			next = "begin one: ol pprof cpu-start" + hint
		}
	}
	return fail(codeFailed, "profile worker", err, next)
}
