package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// OpenLambda's benchmarks: a worker that runs is sent calls of lambdas that
// "ol bench init" made, for a time, and one line of JSON says how it did.

// loadCommands are those of OpenLambda, and "load" for one lambda of one's own.
func loadCommands(s streams) []*cli.Command {
	out := []*cli.Command{benchInitCommand(s), playCommand(s), oneLoadCommand(s)}
	for _, kind := range []string{"py", "pd"} {
		for _, n := range []int{64, 1024, 64 << 10} {
			out = append(out, mixCommand(s, kind, n, "seq", 1), mixCommand(s, kind, n, "par", 32))
		}
	}
	return out
}

// Bounds of a load: a year, and more calls a second than a machine sends.
const mostLoadSeconds, mostLoadRate = 366 * 24 * 3600, 1e7

func benchLoadFlags(more ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		pathFlag(), &cli.BoolFlag{Name: "json", Usage: "answer in JSON (it always is)"},
		&cli.Float64Flag{Name: "seconds", Aliases: []string{"s"}, Usage: "how long", Value: 60, Action: within("seconds", 1e-3, mostLoadSeconds)},
		&cli.IntFlag{Name: "tasks", Aliases: []string{"t"}, Usage: "calls at once, each as soon as another is answered"},
		&cli.Float64Flag{Name: "rate", Usage: "instead of that: calls a second, answered or not", Action: within("rate", 0, mostLoadRate)},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the result to `FILE` as well"},
	}, more...)
}

// mixCommand calls one of n lambdas of a kind at random, again and again.
func mixCommand(s streams, kind string, n int, how string, tasks int) *cli.Command {
	size := fmt.Sprint(n)
	if n >= 1024 {
		size = fmt.Sprintf("%dk", n/1024)
	}
	what := map[string]string{"py": "that do nothing", "pd": "with numpy and pandas"}[kind]
	name := fmt.Sprintf("%s%s-%s", kind, size, how)
	return &cli.Command{
		Name: name, Usage: fmt.Sprintf("call %d lambdas %s, %d at once", n, what, tasks),
		Flags: benchLoadFlags(&cli.BoolFlag{Name: "warmup", Aliases: []string{"w"}, Value: true, Usage: "call each lambda once before; --warmup=false does not"}),
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			l := loadRun{name: name, tasks: tasks, badShare: 0.01, pick: func() string { return benchLambda(kind, rand.IntN(n)) }}
			for i := 0; c.Bool("warmup") && i < n; i++ {
				l.first = append(l.first, benchLambda(kind, i))
			}
			return l.run(s, c)
		},
	}
}

func benchLambda(kind string, i int) string { return fmt.Sprintf("bench-%s-%d", kind, i) }

func playCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "play", Usage: "call the lambdas that a file names, one a line, over and over",
		Flags: benchLoadFlags(&cli.StringFlag{Name: "trace", Aliases: []string{"f"}, Usage: "the file, `TRACE`", Required: true}),
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			text, err := os.ReadFile(s.abs(c.String("trace")))
			if errors.Is(err, fs.ErrNotExist) {
				return fail(codeNotFound, "read trace", err, "")
			}
			if err != nil {
				return fmt.Errorf("read trace: %w", err)
			}
			names := strings.Fields(string(text))
			if len(names) == 0 {
				return usage("write the name of a lambda in each line", "%s names no lambda", c.String("trace"))
			}
			return (&loadRun{name: "play", tasks: 1, badShare: 0.05, pick: inTurn(names)}).run(s, c)
		},
	}
}

// inTurn returns one after the other, and begins again.
func inTurn(names []string) func() string {
	i := -1
	return func() string {
		i++
		return names[i%len(names)]
	}
}

func oneLoadCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "load", Usage: "call one lambda, over and over", ArgsUsage: "NAME[/PATH] [BODY]",
		Flags: benchLoadFlags(),
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 1, 2, "NAME[/PATH] [BODY]"); err != nil {
				return err
			}
			if err := lambda.CheckName(nameOfTarget(c.Args().First())); err != nil {
				return usage("", "call lambda: %s", err)
			}
			return (&loadRun{
				name: "load", tasks: 1, badShare: 0.01, body: c.Args().Get(1), pick: inTurn([]string{c.Args().First()}),
			}).run(s, c)
		},
	}
}

// loadRun is one benchmark.
type loadRun struct {
	name     string
	tasks    int           // unless -t says otherwise
	badShare float64       // of failures, that makes the whole a failure
	body     string        // "null" if empty, as OpenLambda sends
	first    []string      // lambdas to call once before
	pick     func() string // lambda of the next call
}

// loadResult is the line of JSON; the first five fields are OpenLambda's.
type loadResult struct {
	Benchmark string  `json:"benchmark"`
	Seconds   float64 `json:"seconds"`
	Successes int     `json:"successes"`
	Errors    int     `json:"errors"`
	Rate      float64 `json:"ops/s"` // of good answers
	Tasks     int     `json:"tasks,omitempty"`
	Asked     float64 `json:"rate,omitempty"` // calls a second that were sent
	Median    float64 `json:"p50_ms"`         // from the moment that a call was due
	P99       float64 `json:"p99_ms"`
}

func (l *loadRun) run(s streams, c *cli.Context) error {
	load := bench.Load{Tasks: cmp.Or(c.Int("tasks"), l.tasks), Rate: c.Float64("rate"), Length: time.Duration(c.Float64("seconds") * float64(time.Second))}
	if load.Tasks < 1 || load.Length <= 0 || load.Rate < 0 {
		return usage("leave them out for what OpenLambda does", "--tasks, --seconds and --rate have to be positive")
	}
	n, err := runningNode(c.Context, s, workerDir(s, c), pathHint(c), "benchmark")
	if err != nil {
		return err
	}
	load.Next = func() bench.Target { return l.target(n, l.pick()) }
	if err := l.warmUp(s, c, n); err != nil {
		return err
	}
	s.say("start benchmark (%.1f seconds)", load.Length.Seconds())
	var told atomic.Bool
	load.Each = func(err error) {
		if err != nil && !told.Swap(true) {
			s.say("the first failure: %s", err)
		}
	}
	out := load.Run(c.Context)
	if c.Context.Err() != nil {
		return c.Context.Err()
	}
	return l.report(s, c, load, out)
}

func (l *loadRun) target(n node, name string) bench.Target {
	return bench.Target{Method: http.MethodPost, URL: n.url(api.PathRun + name), Body: cmp.Or(l.body, "null")}
}

// warmUp calls each lambda once, in order; the first failure ends it.
func (l *loadRun) warmUp(s streams, c *cli.Context, n node) error {
	if len(l.first) == 0 {
		return nil
	}
	s.say("warming up: calling %d lambdas once", len(l.first))
	for _, name := range l.first {
		out := bench.Spread(c.Context, []bench.Target{l.target(n, name)}, 1)
		if out.FirstFail != nil {
			return fail(codeFailed, "warm up", out.FirstFail, fmt.Sprintf("make the lambdas: ol bench init --functions %d%s", len(l.first), pathHint(c)))
		}
	}
	return nil
}

func (l *loadRun) report(s streams, c *cli.Context, load bench.Load, out bench.Outcome) error {
	const ms = float64(time.Millisecond)
	times := bench.Describe(out.Latencies)
	r := loadResult{
		Benchmark: l.name, Seconds: out.Elapsed.Seconds(), Successes: len(out.Latencies), Errors: out.Failures, Rate: out.Rate(),
		Asked: load.Rate, Median: float64(times.Median) / ms, P99: float64(times.P99) / ms,
	}
	if load.Rate == 0 {
		r.Tasks = load.Tasks
	}
	text, err := jsonLine(r)
	if err != nil {
		return err
	}
	if path := c.String("output"); path != "" {
		if err := os.WriteFile(s.abs(path), text, 0o644); err != nil {
			return fail(codeFailed, "write result", err, "")
		}
	}
	if _, err := s.out.Write(text); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if bad := float64(r.Errors); bad > l.badShare*float64(r.Errors+r.Successes) {
		return fail(codeFailed, "benchmark", fmt.Errorf("%d of %d calls failed, more than %g %%: %w", r.Errors, r.Errors+r.Successes, 100*l.badShare, out.FirstFail), "")
	}
	return nil
}
