package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
)

func invokeCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "invoke",
		Usage:     "call a lambda and print its answer",
		ArgsUsage: "NAME[/PATH] [BODY]",
		Description: "BODY is sent as it is; - reads it from standard input, none sends nothing.\n" +
			"The answer goes to stdout. Exit code: 0 for a status below 400, 4 for an\n" +
			"unknown lambda, 124 for a timeout, else 1.",
		Flags: []cli.Flag{
			pathFlag(), jsonFlag(), bossFlag(), tokenFlag(), caFlag(), certFlag(), keyFlag(),
			&cli.StringFlag{Name: "method", Aliases: []string{"X"}, Value: http.MethodPost, Usage: "HTTP method"},
			&cli.StringSliceFlag{Name: "header", Aliases: []string{"H"}, Usage: "`HEADER` to send, 'NAME: VALUE'; repeatable"},
			&cli.BoolFlag{Name: "async", Usage: "with --boss: print an id instead of waiting for the answer; see ol async"},
			&cli.DurationFlag{Name: "timeout", Usage: "give up after this time; 0 waits as long as the worker does"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "say on stderr how the lambda was started and what it took"},
		},
		Action: func(c *cli.Context) error { return invoke(s, c) },
	}
}

func invoke(s streams, c *cli.Context) error {
	if err := wantArgs(c, 1, 2, "NAME [BODY]"); err != nil {
		return err
	}
	target := c.Args().First()
	name := nameOfTarget(target)
	if err := lambda.CheckName(name); err != nil {
		return usage("", "invoke lambda: %s", err)
	}
	header, err := parseHeaders(c.StringSlice("header"))
	if err != nil {
		return err
	}
	what := "invoke " + name
	if c.Bool("async") {
		if c.String("boss") == "" {
			return usage("name one: --boss http://host:5000", "--async needs a boss, which keeps the answer")
		}
		header.Set("Prefer", "respond-async")
	}
	at, err := findRegistry(s, c, what, c.String("boss") != "")
	if err != nil {
		return err
	}
	ctx := c.Context
	if limit := c.Duration("timeout"); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	resp, err := at(ctx, c.String("method"), api.PathRun+target, invokeBody(s, c.Args().Get(1)), header)
	if errors.Is(err, context.DeadlineExceeded) {
		return fail(codeTimeout, what, fmt.Errorf("no answer within %v", c.Duration("timeout")), "")
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if c.Bool("async") && resp.StatusCode == http.StatusAccepted && !c.Bool("json") {
		id := resp.Header.Get(api.HeaderRequestID)
		s.print("%s", id)
		s.say("get its answer: ol async get --boss %s --wait 1m %s", c.String("boss"), id)
		return nil
	}
	return showAnswer(s, c, what, resp)
}

// nameOfTarget is the lambda in NAME/PATH?QUERY.
func nameOfTarget(target string) string {
	if i := strings.IndexAny(target, "/?"); i >= 0 {
		return target[:i]
	}
	return target
}

func invokeBody(s streams, arg string) io.Reader {
	switch arg {
	case "":
		return nil
	case "-":
		return s.in
	}
	return strings.NewReader(arg)
}

func parseHeaders(lines []string) (http.Header, error) {
	header := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, usage("write it so: -H 'Content-Type: text/plain'", "header %q has no name", line)
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return header, nil
}

// answer is the JSON form of what a lambda answered.
type answer struct {
	Status    int         `json:"status"`
	Start     string      `json:"start,omitempty"` // warm, delayed or cold
	RequestID string      `json:"request_id,omitempty"`
	Timing    string      `json:"timing,omitempty"`
	Header    http.Header `json:"header"`
	Body      string      `json:"body"`
}

func showAnswer(s streams, c *cli.Context, what string, resp *http.Response) error {
	if c.Bool("verbose") {
		s.say("%s, %s start, %s, request %s", resp.Status, resp.Header.Get(api.HeaderStart),
			resp.Header.Get(api.HeaderTiming), resp.Header.Get(api.HeaderRequestID))
	}
	code := codeOfStatus(resp.StatusCode)
	if c.Bool("json") {
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			return fail(codeFailed, what, err, "")
		}
		err = s.printJSON(answer{
			resp.StatusCode, resp.Header.Get(api.HeaderStart), resp.Header.Get(api.HeaderRequestID),
			resp.Header.Get(api.HeaderTiming), resp.Header, string(text),
		})
		if err == nil && code != 0 {
			err = fail(code, what, errors.New(resp.Status), "")
		}
		return err
	}
	if code != 0 {
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			return fail(codeFailed, what, err, "")
		}
		return fail(code, what, answerError(resp, text), invokeHint(code, c))
	}
	if _, err := io.Copy(s.out, resp.Body); err != nil {
		return fail(codeFailed, what, fmt.Errorf("read answer: %w", err), "")
	}
	if s.tty {
		s.say("")
	}
	return nil
}

func invokeHint(code int, c *cli.Context) string {
	if code == codeNotFound {
		return "see what is installed: ol list" + placeHint(c)
	}
	if c.String("boss") != "" {
		return "see the workers: ol nodes list --boss " + c.String("boss")
	}
	return "see what it printed: ol logs" + pathHint(c) + " " + nameOfTarget(c.Args().First())
}
