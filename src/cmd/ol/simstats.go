package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/trace"
)

func simStatsCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "trace",
		Usage: "describe a trace as the paper does (Table 1, Figs 2 and 3), or write it out",
		Flags: append(traceFlags(),
			&cli.StringFlag{Name: "write", Usage: "write the invocations to `FILE`, one a row (t_ms,function,exec_ms,mem_mb,cold_ms)"},
			jsonFlag(),
		),
		Action: func(c *cli.Context) error { return simStats(s, c) },
	}
}

func simStats(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, "--trace s1"); err != nil {
		return err
	}
	t, err := chosenTrace(s, c)
	if err != nil {
		return err
	}
	w, err := t.workload(t.o.Seed)
	if err != nil {
		return fail(codeUsage, "make workload", err, "")
	}
	if path := c.String("write"); path != "" {
		if err := ignored(c, []string{"json"}, "--write writes rows and describes nothing", "describe the file then: ol sim trace --json --trace "+path); err != nil {
			return err
		}
		return writeTrace(s, path, w)
	}
	d, err := trace.Describe(w)
	if err != nil {
		return simFailure("read trace", err)
	}
	if c.Bool("json") {
		return s.printJSON(d)
	}
	quantiles := func(q trace.Quantiles) string {
		return fmt.Sprintf("p10 %.4g, p50 %.4g, p90 %.4g, p99 %.4g, most %.4g", q.P10, q.P50, q.P90, q.P99, q.Max)
	}
	rate := func(r trace.Rate) string {
		return fmt.Sprintf("mean %.4g, least %.4g, most %.4g", r.Mean, r.Min, r.Max)
	}
	s.print("%s: %d functions, %d requests in %.0f s", w.Name, d.Functions, d.Requests, d.Seconds)
	if w.Note != "" {
		s.print("Note: %s.", w.Note)
	}
	s.print("requests per second          %s", rate(d.RPS))
	s.print("GB per second                %s", rate(d.GBps))
	s.print("requests of a function/min   %s", quantiles(d.PerMinute))
	s.print("cold start / execution       %s; at most 1 for %.1f %%", quantiles(d.ColdOverExec), 100*d.ColdBelow)
	s.print("means over requests          execution %.1f ms, cold start %.1f ms, memory %.1f MB", d.MeanExecMS, d.MeanColdMS, d.MeanMB)
	return nil
}

// writeTrace writes under a temporary name and renames.
func writeTrace(s streams, path string, w trace.Workload) error {
	path = s.abs(path)
	stream, err := w.Open()
	if err != nil {
		return simFailure("read trace", err)
	}
	defer stream.Close() //nolint:errcheck // read only
	n := 0
	err = replaceFile(path, func(out io.Writer) error {
		n, err = trace.WriteCalls(out, stream)
		return err
	})
	if err != nil {
		return simFailure("write trace", err)
	}
	s.say("%d invocations written to %s", n, path)
	return nil
}

// replaceFile writes a file so that it is there whole or not at all.
func replaceFile(path string, content func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".unfinished-")
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone after the rename
	if err := content(f); err != nil {
		_ = f.Close() // the first error is the one to report
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		_ = f.Close()
		return fmt.Errorf("write file: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}
