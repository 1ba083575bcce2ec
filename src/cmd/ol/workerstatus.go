package main

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
)

func workerStatusCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:        "status",
		Usage:       "say whether a worker runs",
		Description: "Exit code 3 if none does.",
		Flags:       []cli.Flag{pathFlag(), jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			return workerStatus(s, c)
		},
	}
}

// workerState is the JSON form of the answer.
type workerState struct {
	Running bool   `json:"running"`
	Status  string `json:"status"` // what /status says, "" if it does not answer
	PID     int    `json:"pid,omitempty"`
	URL     string `json:"url,omitempty"`
	Dir     string `json:"dir"`
}

func workerStatus(s streams, c *cli.Context) error {
	n, err := runningNode(c.Context, s, workerDir(s, c), pathHint(c), "ask for status")
	var f *failure
	if errors.As(err, &f) && f.code == codeNotRunning && c.Bool("json") {
		if err := s.printJSON(workerState{Dir: workerDir(s, c)}); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	text, err := n.get(c.Context, api.PathStatus, nil)
	if err != nil {
		return fail(codeFailed, "ask for status", err, "see what it says: "+outputFile+" in "+n.dir)
	}
	state := workerState{Running: true, Status: strings.TrimSpace(string(text)), URL: n.url(""), Dir: n.dir}
	if state.PID, err = n.pid(c.Context); err != nil && !errors.Is(err, fs.ErrPermission) {
		return fail(codeFailed, "ask for status", err, "")
	}
	if c.Bool("json") {
		return s.printJSON(state)
	}
	s.print("%s", state.Status)
	return nil
}
