package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/sock/cgroup"
	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/replay"
)

// replayEnvironment is what a reader must know to compare a replay with another.
type replayEnvironment struct {
	Machine bench.Fingerprint `json:"machine"` // before the replay
	Cgroups string            `json:"cgroups"`
	Build   build             `json:"build"`
	During  bench.Usage       `json:"during"` // the replay, of this machine
}

func newReplayEnvironment() replayEnvironment {
	return replayEnvironment{Machine: bench.TakeFingerprint(), Cgroups: cgroup.Probe().Layout, Build: version()}
}

// watch watches the machine until the function that it returns is called.
func (e *replayEnvironment) watch(ctx context.Context) func() {
	end := bench.WatchUsage(ctx)
	return func() { e.During = end() }
}

// replayResult is replay.json.
type replayResult struct {
	Trace       string                   `json:"trace"`
	Note        string                   `json:"note,omitempty"` // what a reader must know of the data
	Asked       map[string]any           `json:"asked"`          // by flag; times with their unit
	Target      string                   `json:"target"`
	Workers     replayWorkers            `json:"workers"`
	Scale       float64                  `json:"scale"`
	Lambdas     int                      `json:"lambdas"`
	MeanExec    time.Duration            `json:"asked_exec_mean_ns"` // 0: lambdas run as they are written, and there is no slowdown
	Began       time.Time                `json:"began"`
	Seconds     float64                  `json:"seconds"`
	Complete    bool                     `json:"complete"` // every request was sent
	Summary     replay.Summary           `json:"summary"`
	Drift       replay.Drift             `json:"drift"`
	Spread      replay.Spread            `json:"spread"`
	Slowest     []replay.FunctionSummary `json:"slowest_functions"` // by p99 of slowdown
	Predicted   replay.Prediction        `json:"predicted"`
	Machine     replayMachine            `json:"measured_before"`
	Environment replayEnvironment        `json:"environment"`
}

// askedFor are the flags that make a replay what it is, with their values.
func askedFor(c *cli.Context) map[string]any {
	asked := map[string]any{}
	for _, f := range append(traceFlags(), replayFlags()...) {
		name := f.Names()[0]
		switch v := c.Value(name).(type) {
		case nil: // the command has no such flag
		case time.Duration:
			asked[name] = v.String()
		default:
			asked[name] = v
		}
	}
	return asked
}

// report sums up, writes the files and prints. What cannot be written is printed
// all the same.
func (r *replayRun) report(asJSON bool) error {
	w, samples := r.plan.workload, sentOnly(r.sent)
	functions := replay.Functions(w, samples)
	res := &r.result
	res.Trace, res.Note, res.Target, res.Scale, res.Lambdas = r.plan.name, r.plan.note, r.target.where, r.plan.scale, len(w.Lambdas)
	res.Asked, res.Workers = r.plan.asked, r.target.describe(r.plan.scale)
	res.Complete = len(samples) == len(r.sent)
	res.Summary, res.Drift = replay.Summarise(samples), replay.MeasureDrift(w, samples)
	res.Spread = replay.MeasureSpread(samples, r.target.workers...)
	if res.MeanExec = w.MeanExec(); res.MeanExec > 0 {
		res.Slowest = slowest(functions, 5)
	}
	failed := r.write(samples, functions)
	if failed != nil {
		failed = r.out.failed(failed)
	} else {
		r.out.tell(r.streams)
	}
	if asJSON {
		return errors.Join(failed, r.printJSON(res))
	}
	printReplay(r.streams, res)
	return failed
}

// sentOnly leaves out what a replay that ended early never sent: the last ones.
func sentOnly(all []replay.Sample) []replay.Sample {
	n := len(all)
	for n > 0 && !all[n-1].Sent() {
		n--
	}
	return all[:n]
}

// verdict warns of drift, and fails for too much of it or for errors.
func (r *replayRun) verdict() error {
	res := &r.result
	if d := res.Drift; d.Worst > replay.MostDrift {
		return replayFailure(&replay.DriftError{Drift: d})
	} else if d.Worst > replay.WarnDrift {
		r.say("warning: the replay fell behind by %.0f %% of a window of %.3g s at %.0f s: this machine is too busy to send", 100*d.Worst, d.Window.Seconds(), d.At.Seconds())
	}
	if res.Summary.Errors == 0 {
		return nil
	}
	sent := sentOnly(r.sent)
	what := fmt.Sprintf("%d of %d requests failed; the first", res.Summary.Errors, res.Summary.Requests)
	first := sent[slices.IndexFunc(sent, func(s replay.Sample) bool { return s.Err != nil })].Err
	if last := sent[len(sent)-1].Err; errors.Is(last, replay.ErrUnreachable) {
		return fail(codeNotRunning, what, first, "nobody took the last one: "+seeTarget)
	}
	return fail(codeFailed, what, first, "")
}

// write writes the files of --out, as many as it can.
func (r *replayRun) write(samples []replay.Sample, functions []replay.FunctionSummary) error {
	if r.out.dir == "" {
		return nil
	}
	w := r.plan.workload
	return r.out.writeAll([]resultFile{
		{"requests.csv", func(to io.Writer) error { return replay.WriteRequests(to, w, samples) }},
		{"functions.csv", func(to io.Writer) error { return replay.WriteFunctions(to, functions) }},
		{"latency.hgrm", func(to io.Writer) error { return replay.WriteHistogram(to, samples) }},
		{"replay.json", func(to io.Writer) error {
			enc := json.NewEncoder(to)
			enc.SetIndent("", " ")
			return enc.Encode(r.result)
		}},
	})
}
