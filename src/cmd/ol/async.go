package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
)

func asyncCommand(s streams) *cli.Command {
	flags := append(bossFlags(), jsonFlag())
	get := append([]cli.Flag{&cli.DurationFlag{Name: "wait", Usage: "wait so long for the answer"}}, flags...)
	return &cli.Command{
		Name:  "async",
		Usage: "look at asynchronous invocations of a cluster, cancel them, and handle those that failed for good",
		Subcommands: []*cli.Command{
			{
				Name: "get", Usage: "show what became of an invocation", ArgsUsage: "ID", Flags: get,
				Description: "The answer, once there is one, goes to stdout, the rest to stderr. Exit code: 0\n" +
					"for a status below 400, or if there is no answer yet; 4 for an unknown id; 124\n" +
					"if --wait was in vain; else 1.",
				Action: func(c *cli.Context) error { return asyncGet(s, c) },
			},
			{
				Name: "cancel", Usage: "cancel an invocation that does not run", ArgsUsage: "ID", Flags: flags,
				Action: func(c *cli.Context) error {
					return asyncChange(s, c, "cancel", http.MethodDelete, api.PathAsync, "")
				},
			},
			{
				Name: "dead", Usage: "the dead letters: invocations that were given up",
				Subcommands: []*cli.Command{
					{Name: "list", Usage: "show the dead letters, oldest first", Flags: flags, Action: func(c *cli.Context) error { return deadList(s, c) }},
					{
						Name: "retry", Usage: "queue a dead letter again, with all its attempts", ArgsUsage: "ID", Flags: flags,
						Action: func(c *cli.Context) error {
							return asyncChange(s, c, "retry", http.MethodPost, api.PathDead, "/retry")
						},
					},
					{
						Name: "drop", Usage: "remove a dead letter for good", ArgsUsage: "ID", Flags: flags,
						Action: func(c *cli.Context) error {
							return asyncChange(s, c, "drop", http.MethodDelete, api.PathDead, "")
						},
					},
				},
			},
		},
	}
}

// asyncEnded tells whether a state is a last one.
func asyncEnded(state string) bool {
	return state == api.AsyncDone || state == api.AsyncCanceled || state == api.AsyncDead
}

// asyncPoll is how often a boss is asked for a state.
const asyncPoll = 100 * time.Millisecond

// asyncState asks for the state of an invocation, until it ends or wait is over.
func asyncState(ctx context.Context, b *bossClient, id string, wait time.Duration) (api.AsyncState, error) {
	deadline := time.Now().Add(wait)
	tick := time.NewTicker(asyncPoll)
	defer tick.Stop()
	for {
		var st api.AsyncState
		if err := b.getJSON(ctx, api.PathAsync+url.PathEscape(id), &st); err != nil {
			return st, err
		}
		if asyncEnded(st.State) || !time.Now().Before(deadline) {
			return st, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return st, ctx.Err()
		}
	}
}

func asyncGet(s streams, c *cli.Context) error {
	if err := wantArgs(c, 1, 1, "ID"); err != nil {
		return err
	}
	b, err := findBoss(s, c, defaultBossDir)
	if err != nil {
		return err
	}
	id := c.Args().First()
	what := "get " + id
	st, err := asyncState(c.Context, b, id, c.Duration("wait"))
	if err != nil {
		return asyncFail(what, err)
	}
	if c.Bool("json") {
		if err := s.printJSON(st); err != nil {
			return err
		}
	} else {
		showAsync(s, st)
	}
	switch {
	case !asyncEnded(st.State) && c.Duration("wait") > 0:
		return fail(codeTimeout, what, fmt.Errorf("it is %s after %v", st.State, c.Duration("wait")), "")
	case st.State == api.AsyncDead:
		return fail(codeFailed, what, errors.New("it was given up: "+st.Why), "try it again: ol async dead retry "+id)
	case st.State == api.AsyncDone && codeOfStatus(st.Status) != 0:
		return fail(codeFailed, what, fmt.Errorf("the lambda answered %d", st.Status), "")
	}
	return nil
}

// showAsync prints the answer, and says the rest.
func showAsync(s streams, st api.AsyncState) {
	s.say("%s: %s since %s, attempts: %d", st.Function, st.State, st.Changed.Local().Format(time.DateTime), st.Attempts)
	if st.Why != "" {
		s.say("%s", st.Why)
	}
	if st.TooLarge {
		s.say("the answer had %d bytes, too many to be kept", st.Bytes)
	}
	if st.Status == 0 {
		return
	}
	s.say("status %d", st.Status)
	body := []byte(st.Body)
	if len(st.Base64) > 0 {
		body = st.Base64
	}
	_, _ = s.out.Write(body) // as with every print: nobody could be told
	if s.tty {
		s.say("")
	}
}

// asyncFail says by its exit code that an id is unknown.
func asyncFail(what string, err error) error {
	var st *statusError
	if errors.As(err, &st) {
		return fail(max(codeOfStatus(st.status), codeFailed), what, err, "")
	}
	return err
}

// asyncChange sends one wish about one invocation.
func asyncChange(s streams, c *cli.Context, verb, method, path, sub string) error {
	if err := wantArgs(c, 1, 1, "ID"); err != nil {
		return err
	}
	b, err := findBoss(s, c, defaultBossDir)
	if err != nil {
		return err
	}
	id := c.Args().First()
	text, err := b.do(c.Context, method, path+url.PathEscape(id)+sub, nil)
	if err != nil {
		return asyncFail(verb+" "+id, err)
	}
	if !c.Bool("json") {
		s.say("%s: %s", id, verb)
		return nil
	}
	var st api.AsyncState
	if err := json.Unmarshal(text, &st); err != nil {
		return fmt.Errorf("understand answer: %w", err)
	}
	return s.printJSON(st)
}
