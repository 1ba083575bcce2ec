package soak

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// Report is what came of a soak.
type Report struct {
	mu sync.Mutex

	Took         time.Duration             `json:"took_ns"`
	Seed         uint64                    `json:"seed"`
	Requests     map[string]map[string]int `json:"requests"` // by kind and verdict
	Lives        int                       `json:"lives"`
	WorkerKills  int                       `json:"worker_kills"`
	SandboxKills int                       `json:"process_kills"` // of sandboxes, zygotes and parked children
	Updates      int                       `json:"code_updates"`
	Evictions    int                       `json:"evictions"` // in lives that were not cut short
	Starts       int                       `json:"sandbox_starts"`
	Refused      int                       `json:"uploads_refused"` // by a host that is made to fail, and tried again
	LinesLost    int                       `json:"lines_lost"`      // of logs, by such a host, that the logs admit
	CutBegun     int                       `json:"cut_begun"`       // requests without an answer because the worker was killed that are in lambdas' logs, once
	Held         []Comparison              `json:"held"`
	Left         Left                      `json:"left"` // when the worker had stopped
	Faults       []string                  `json:"faults"`
	FaultCount   int                       `json:"fault_count"`
}

// Comparison is what a worker held before and after a load, without lambdas.
type Comparison struct {
	Life   int     `json:"life"`
	Before Holding `json:"before"`
	After  Holding `json:"after"`
}

// mostFaults bounds those that are described.
const mostFaults = 30

func newReport(cfg Config) *Report {
	return &Report{Seed: cfg.Seed, Lives: cfg.Lives, Requests: map[string]map[string]int{}, Faults: []string{}}
}

// Good tells whether nothing was lost, wrong or left over.
func (r *Report) Good() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.FaultCount == 0
}

func (r *Report) fault(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.FaultCount++; len(r.Faults) < mostFaults {
		r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
	}
}

// count adds one to a counter of the report.
func (r *Report) count(n *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
}

func (r *Report) note(kind, verdict string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Requests[kind] == nil {
		r.Requests[kind] = map[string]int{}
	}
	r.Requests[kind][verdict]++
}

func (r *Report) compare(life int, before, after Holding) {
	r.mu.Lock()
	r.Held = append(r.Held, Comparison{life, before, after})
	r.mu.Unlock()
	if more := after.exceeds(before); len(more) > 0 {
		r.fault("life %d: the worker holds more after the load: %s", life, strings.Join(more, "; "))
	}
}

// tally adds what the worker has counted in its life.
func (r *runner) tally(ctx context.Context) error {
	c, err := r.counters(ctx)
	if err != nil {
		return err
	}
	evicted, started := int(c.sum("ol_evictions_total")), c.samples("ol_init_seconds")
	r.report.mu.Lock()
	defer r.report.mu.Unlock()
	r.report.Evictions += evicted - r.life.evicted
	r.report.Starts += started - r.life.started
	r.life.evicted, r.life.started = evicted, started
	return nil
}

// Total counts requests by verdict.
func (r *Report) Total() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]int{}
	for _, verdicts := range r.Requests {
		for v, n := range verdicts {
			all[v] += n
		}
	}
	return all
}

func (r *Report) progress() string {
	all := r.Total()
	var parts []string
	for _, v := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, fmt.Sprintf("%d %s", all[v], v))
	}
	return strings.Join(parts, ", ")
}

// Write prints the figures.
func (r *Report) Write(w io.Writer) error {
	fmt.Fprintf(w, "soak of %s, seed %d: %d lives of the worker, %d ended by kill -9; %d processes of sandboxes and zygotes killed; "+
		"%d code updates; %d sandboxes started, %d evicted\n",
		r.Took.Round(time.Second), r.Seed, r.Lives, r.WorkerKills, r.SandboxKills, r.Updates, r.Starts, r.Evictions)
	verdicts := []string{right, left, cutSandbox, cutWorker, hostRefused, wrongAnswer}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "requests\t%s\t\n", strings.Join(verdicts, "\t"))
	for _, k := range slices.Sorted(maps.Keys(r.Requests)) {
		fmt.Fprint(t, k, "\t")
		for _, v := range verdicts {
			fmt.Fprint(t, r.Requests[k][v], "\t")
		}
		fmt.Fprintln(t)
	}
	fmt.Fprint(t, "all\t")
	for _, v := range verdicts {
		fmt.Fprint(t, r.Total()[v], "\t")
	}
	fmt.Fprintln(t)
	if err := t.Flush(); err != nil {
		return err
	}
	if r.Refused+r.LinesLost > 0 {
		fmt.Fprintf(w, "the host, made to fail, refused %d uploads, which were tried again, and lost %d lines of logs, which the logs say\n", r.Refused, r.LinesLost)
	}
	if n := r.Total()[cutWorker]; n > 0 {
		fmt.Fprintf(w, "%d requests got no right answer because the worker was killed or had still to start: %d of them had begun to run, none twice\n", n, r.CutBegun)
	}
	for _, c := range r.Held {
		fmt.Fprintf(w, "life %d: %s\n", c.Life, c)
	}
	fmt.Fprintf(w, "left of the stopped worker: %d control groups, %d processes, %d orphans, %d mounts, %d network links, %d firewall tables, %d files\n",
		r.Left.Cgroups, r.Left.Processes, r.Left.Orphans, r.Left.Mounts, r.Left.Links, r.Left.Tables, r.Left.Files)
	for _, f := range r.Faults {
		fmt.Fprintln(w, "FAULT", f)
	}
	if r.FaultCount > len(r.Faults) {
		fmt.Fprintf(w, "FAULT and %d more\n", r.FaultCount-len(r.Faults))
	}
	return nil
}

// String is one line.
func (c Comparison) String() string {
	var parts []string
	for _, f := range figures() {
		parts = append(parts, fmt.Sprintf("%s %d -> %d", f.name, f.of(&c.Before), f.of(&c.After)))
	}
	return strings.Join(parts, ", ")
}
