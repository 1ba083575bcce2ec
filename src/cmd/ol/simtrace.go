package main

import (
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/trace"
)

// traceFlags say which workload is meant, and how it is modelled.
func traceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "trace", Usage: "a `TRACE` that ships with ol (" + strings.Join(trace.Names(), ", ") + "), a file or a directory", Value: "s1"},
		&cli.IntFlag{Name: "first-minute", Usage: "begin at this `MINUTE` of a recorded trace, from 1", Value: 1},
		&cli.IntFlag{Name: "minutes", Usage: "take so many `MINUTES`; 0 takes all"},
		&cli.IntFlag{Name: "functions", Usage: "take a random sample of `N` functions; 0 takes all"},
		&cli.Float64Flag{Name: "sigma", Usage: "unevenness of the seconds inside a minute: 0, 1 or 2"},
		&cli.DurationFlag{Name: "cap", Usage: "cut execution times, for instance at 400ms; 0 does not"},
		&cli.Float64Flag{Name: "mem-scale", Usage: "factor on the memory of the trace; 3.67 gives the paper's 448 MB per request on S2", Value: 1},
		&cli.Float64Flag{Name: "cold-per-mb", Usage: "cold start in ms per MB of the trace, before --mem-scale", Value: 1.7},
		&cli.Uint64Flag{Name: "seed", Usage: "first seed of arrivals, execution times, samples and faults", Value: 1},
	}
}

// traceChoice is what traceFlags chose.
type traceChoice struct {
	source trace.Source
	o      trace.Options
	m      trace.Model
	sample int
}

func chosenTrace(s streams, c *cli.Context) (traceChoice, error) {
	t := traceChoice{
		o: trace.Options{
			First: c.Int("first-minute") - 1, Minutes: c.Int("minutes"), Sigma: c.Float64("sigma"), MaxExec: c.Duration("cap"),
			Seed: c.Uint64("seed"),
		},
		m: trace.Model{
			MemScale:  c.Float64("mem-scale"),
			ColdPerMB: time.Duration(c.Float64("cold-per-mb") * float64(time.Millisecond)),
		},
		sample: c.Int("functions"),
	}
	switch {
	case t.o.Sigma < 0 || t.o.MaxExec < 0 || t.sample < 0 || t.o.Minutes < 0:
		return t, usage("", "--sigma, --cap, --functions and --minutes must not be negative")
	case t.o.First < 0:
		return t, usage("", "--first-minute counts from 1")
	case t.m.MemScale <= 0 || t.m.ColdPerMB < 0:
		return t, usage("", "--mem-scale must be more than 0 and --cold-per-mb not negative")
	}
	var err error
	t.source, err = loadTrace(s, c.String("trace"))
	if err != nil {
		return t, err
	}
	if t.source.Skipped > 0 {
		s.say("%s: %d functions left out, they lack execution times or memory", t.source.Name, t.source.Skipped)
	}
	if _, err := t.workload(t.o.Seed); err != nil {
		return t, fail(codeUsage, "make workload", err, "")
	}
	return t, nil
}

// workload applies a seed.
func (t traceChoice) workload(seed uint64) (trace.Workload, error) {
	source, o := t.source, t.o
	o.Seed = seed
	if t.sample > 0 && source.Functions == nil {
		w, err := source.Workload(o, t.m)
		if err != nil {
			return w, err
		}
		return trace.SampleWorkload(w, t.sample, seed)
	}
	if t.sample > 0 {
		var err error
		if source.Functions, err = trace.Sample(source.Functions, t.sample, seed); err != nil {
			return trace.Workload{}, err
		}
	}
	return source.Workload(o, t.m)
}

func loadTrace(s streams, name string) (trace.Source, error) {
	source, known, err := trace.Named(name)
	if err != nil {
		return source, simFailure("read trace", err)
	}
	if known {
		return source, nil
	}
	path := s.abs(name)
	source, err = trace.Load(path)
	var row *trace.RowError
	switch {
	case err == nil:
		return source, nil
	case errors.As(err, &row):
		return source, simFailure("read trace", err)
	}
	return source, fail(codeUsage, "read trace "+name, err, "traces that ship with ol: "+strings.Join(trace.Names(), ", "))
}
