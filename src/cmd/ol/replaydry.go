package main

import (
	"context"
	"fmt"

	"github.com/open-lambda/open-lambda/src/replay"
)

// replayForecast is what a replay would be.
type replayForecast struct {
	Trace    string  `json:"trace"`
	Note     string  `json:"note,omitempty"` // what a reader must know of the data
	Target   string  `json:"target"`
	Scale    float64 `json:"scale"`
	Requests int     `json:"requests"`
	Lambdas  int     `json:"lambdas"`
	Seconds  float64 `json:"seconds"`
	// Options are those of workers whose constants fit the scale.
	Options   string            `json:"worker_options"`
	Predicted replay.Prediction `json:"predicted"`
	Machine   replayMachine     `json:"measured_before"`
}

// forecast prepares a replay and tells what would be sent.
func (r *replayRun) forecast(ctx context.Context, asJSON bool) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	w, p := r.plan.workload, r.result.Predicted
	f := replayForecast{
		Trace: r.plan.name, Note: r.plan.note, Target: r.target.where, Scale: r.plan.scale, Requests: len(w.Requests), Lambdas: len(w.Lambdas),
		Seconds: w.Span().Seconds(), Options: scaledOptions(r.plan.scale), Predicted: p, Machine: r.result.Machine,
	}
	if asJSON {
		return r.printJSON(f)
	}
	for _, row := range [][2]string{
		{"scale", fmt.Sprintf("%.4g", f.Scale)},
		{"requests", fmt.Sprint(f.Requests)},
		{"lambdas", fmt.Sprint(f.Lambdas)},
		{"seconds", fmt.Sprintf("%.1f", f.Seconds)},
		{"cold starts", fmt.Sprintf("%d simulated", p.Cold)},
		{"options", f.Options},
	} {
		r.print("%-12s%s", row[0], row[1])
	}
	return nil
}
