package lesson

import (
	"context"
	"math"
	"time"
)

// Tables are the lesson's three tables, rounded as published.
type Tables struct {
	Profiles     map[string]any `json:"profiles"` // by name: Row; and lifetime_s, share
	LifetimeScan []Scan         `json:"lifetime_scan"`
	Mitigation   []Path         `json:"mitigation"`
}

// Row is a profile in the first table.
type Row struct {
	Calls     int     `json:"calls"`
	Cold      int     `json:"cold"`
	ColdPct   float64 `json:"cold_rate_pct"`
	MeanMS    float64 `json:"avg_latency_ms"`
	P99MS     float64 `json:"p99_ms"`
	Queued    int     `json:"queued"`
	LongestMS float64 `json:"longest_wait_ms"`
	Most      int     `json:"most_instances"`
	IdleS     float64 `json:"idle_instance_s"`
}

// Scan is a lifetime in the second table: per profile the cold rate in % and
// the idle instance-seconds.
type Scan struct {
	LifetimeS    int        `json:"lifetime_s"`
	Sparse       [2]float64 `json:"sparse"`
	Regular      [2]float64 `json:"regular"`
	Bursty       [2]float64 `json:"bursty"`
	BurstyQueued int        `json:"bursty_queued"`
	BurstyMeanMS float64    `json:"bursty_avg_latency_ms"`
}

// Path is a mitigation in the third table.
type Path struct {
	Path      string   `json:"path"`
	Cold      int      `json:"cold"`
	ColdPct   float64  `json:"cold_rate_pct"`
	MeanMS    float64  `json:"avg_latency_ms"`
	P99MS     float64  `json:"p99_ms"`
	Queued    int      `json:"queued"`
	IdleS     float64  `json:"idle_instance_s"`
	Cost      float64  `json:"cost"`
	GainMS    float64  `json:"latency_gain_ms"`
	CostPerMS *float64 `json:"extra_cost_per_ms,omitempty"` // nil if nothing is gained
}

// round rounds half away from zero, to so many decimals.
func round(v float64, decimals int) float64 {
	p := math.Pow(10, float64(decimals))
	return math.Round(v*p) / p
}

// Row rounds an outcome for the first table.
func (o Outcome) Row() Row {
	return Row{
		Calls: o.Calls, Cold: o.Cold, ColdPct: round(o.ColdPct, 2), MeanMS: round(o.MeanMS, 0), P99MS: round(o.P99MS, 0),
		Queued: o.Queued, LongestMS: round(o.LongestWaitMS, 0), Most: o.Most, IdleS: round(o.IdleSeconds, 0),
	}
}

// Make runs the whole lesson.
func Make(ctx context.Context) (Tables, error) {
	t := Tables{Profiles: map[string]any{"lifetime_s": int(DefaultLifetime.Seconds()), "share": MaxInstances}}
	for _, p := range Profiles() {
		o, err := Run(ctx, Default(p))
		if err != nil {
			return t, err
		}
		t.Profiles[p.Name] = o.Row()
	}
	for _, seconds := range []int{0, 15, 30, 60, 120, 300, 600, 1800} {
		s, err := scan(ctx, seconds)
		if err != nil {
			return t, err
		}
		t.LifetimeScan = append(t.LifetimeScan, s)
	}
	var err error
	t.Mitigation, err = mitigations(ctx)
	return t, err
}

func scan(ctx context.Context, seconds int) (Scan, error) {
	s := Scan{LifetimeS: seconds}
	for i, to := range []*[2]float64{&s.Sparse, &s.Regular, &s.Bursty} {
		setup := Default(Profiles()[i])
		setup.Lifetime = time.Duration(seconds) * time.Second
		o, err := Run(ctx, setup)
		if err != nil {
			return s, err
		}
		*to = [2]float64{round(o.ColdPct, 2), round(o.IdleSeconds, 0)}
		s.BurstyQueued, s.BurstyMeanMS = o.Queued, round(o.MeanMS, 0) // bursty is the last
	}
	return s, nil
}

// The mitigations.
const (
	prewarmed    = 16
	shrunkCold   = 350 * time.Millisecond
	lazyCold     = 500 * time.Millisecond
	lazyOverhead = 40 * time.Millisecond
)

func mitigations(ctx context.Context) ([]Path, error) {
	base := Default(Profiles()[2])
	none, warm, shrunk, lazy := base, base, base, base
	warm.Prewarm = prewarmed
	shrunk.Cold = shrunkCold
	lazy.Cold = lazyCold
	lazy.Exec += lazyOverhead
	both := shrunk
	both.Prewarm = prewarmed
	names := []string{"none", "prewarm16", "shrink", "lazy", "shrink+prewarm16"}
	var all []Path
	var before Outcome
	for i, setup := range []Setup{none, warm, shrunk, lazy, both} {
		o, err := Run(ctx, setup)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			before = o
		}
		all = append(all, path(names[i], o, before))
	}
	return all, nil
}

func path(name string, o, before Outcome) Path {
	gain := before.MeanMS - o.MeanMS
	p := Path{
		Path: name, Cold: o.Cold, ColdPct: round(o.ColdPct, 2), MeanMS: round(o.MeanMS, 1), P99MS: round(o.P99MS, 0),
		Queued: o.Queued, IdleS: round(o.IdleSeconds, 0), Cost: round(o.Cost, 2), GainMS: round(gain, 1),
	}
	if gain > 0 {
		per := round((o.Cost-before.Cost)/gain, 3)
		p.CostPerMS = &per
	}
	return p
}
