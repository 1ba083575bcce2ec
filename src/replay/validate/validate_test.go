package validate

import (
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/replay"
)

const ms = time.Millisecond

func example(placer string, cold, simulated int) Case {
	return Case{
		Policy: "cidre", Placer: placer,
		Summary:   replay.Summary{Requests: 1000, Cold: cold, Warm: 1000 - cold, Overhead: replay.Distribution{N: 1000, Mean: 10 * ms, P99: 300 * ms}},
		Spread:    replay.Spread{MaxOfMean: 1.1},
		Predicted: replay.Prediction{Requests: 1000, Cold: simulated, Warm: 1000 - simulated, Overhead: replay.Distribution{N: 1000, Mean: 8 * ms, P99: 250 * ms}, PerNode: []int{400, 300, 300}},
	}
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Case)
		wrong  string // figures out of tolerance
	}{
		{"alike", func(*Case) {}, ""},
		{"more cold starts", func(c *Case) { c.Summary.Cold, c.Summary.Warm = 140, 860 }, "cold starts,warm starts"},
		{"fewer cold starts", func(c *Case) { c.Summary.Cold, c.Summary.Warm = 60, 940 }, "cold starts,warm starts"},
		{"just within", func(c *Case) { c.Summary.Cold, c.Summary.Warm = 130, 870 }, ""},
		{"slow", func(c *Case) { c.Summary.Overhead.P99 = 320 * ms }, "overhead p99"},
		{"an error", func(c *Case) { c.Summary.Errors = 1 }, "errors"},
		{"uneven", func(c *Case) { c.Spread.MaxOfMean = 2 }, "balance"},
		{"single", func(c *Case) { c.Placer, c.Spread.MaxOfMean = "", 2 }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := example("hash", 100, 100)
			tt.change(&c)
			var wrong []string
			for _, f := range Compare(&c, DefaultTolerance()) {
				if !f.OK {
					wrong = append(wrong, f.Name)
				}
			}
			if got := strings.Join(wrong, ","); got != tt.wrong {
				t.Errorf("out of tolerance: %q, want %q", got, tt.wrong)
			}
		})
	}
}

func TestPlacements(t *testing.T) {
	holds := func(cases ...Case) string {
		var out []string
		for _, c := range Placements(cases, DefaultTolerance()) {
			out = append(out, map[bool]string{true: "yes", false: "no"}[c.Holds])
		}
		return strings.Join(out, " ")
	}
	tests := map[string]struct {
		cases []Case
		want  string
	}{
		"as told":           {[]Case{example("round-robin", 200, 210), example("hash", 100, 90), example("warm-first", 90, 80)}, "yes yes"},
		"one is enough":     {[]Case{example("round-robin", 200, 210), example("hash", 250, 240), example("warm-first", 90, 80)}, "yes yes"},
		"no better":         {[]Case{example("round-robin", 100, 90), example("hash", 100, 90)}, "no yes"},
		"simulator differs": {[]Case{example("round-robin", 200, 100), example("hash", 100, 200)}, "yes no"},
		"too close":         {[]Case{example("round-robin", 200, 201), example("hash", 199, 202)}, "yes yes"},
		"without the two":   {[]Case{example("hash", 1, 2)}, ""},
	}
	for name, tt := range tests {
		if got := holds(tt.cases...); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestExplain(t *testing.T) {
	w := replay.Workload{Lambdas: []replay.Lambda{{Name: "f", Init: 50 * ms}}}
	got := Explain(w, []replay.Sample{
		{Start: "cold", Init: 75 * ms, Request: replay.Request{Exec: 10 * ms}, Exec: 12 * ms},
		{Start: "warm", Late: ms, Queue: 2 * ms, Latency: 17 * ms, Request: replay.Request{Exec: 10 * ms}, Exec: 13 * ms},
	}, 20*ms)
	if got.StartExtra.P50 != 5*ms || got.WarmWait.P50 != 4*ms || got.ExecExtra.Max != 3*ms || got.ExecExtra.N != 2 {
		t.Errorf("%+v", got)
	}
	for _, s := range got.Sentences() {
		if !strings.Contains(s, "ms (p99 ") {
			t.Errorf("%q", s)
		}
	}
	w.Lambdas[0].InitSigma = 0.3
	if s := Explain(w, nil, 0).Sentences()[1]; got.Vary || !strings.Contains(s, "initialisations vary") {
		t.Errorf("starts that vary: %q", s)
	}
}
