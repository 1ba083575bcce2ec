package soak

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

// Node is a worker under test, and the machine it runs on.
type Node interface {
	URL() string                                                             // its address, without a slash at the end
	Install(ctx context.Context, name string, settings map[string]any) error // the lambda "soak" with this ol.yaml
	PID() int                                                                // of the running worker
	Log(name string) ([]byte, error)                                         // what a lambda has printed, as far as it is kept
	KillSandbox(pick func(n int) int) (bool, error)                          // kill -9 of one of its processes; false if there was none
	Kill(ctx context.Context) error                                          // kill -9 of the worker, and a new start
	Restart(ctx context.Context) error                                       // an orderly stop, and a new start
	Stop(ctx context.Context) error                                          // an orderly stop
	Left(ctx context.Context) (Left, error)                                  // what it has on the machine outside of its process
}

// Config says how long and how hard.
type Config struct {
	Length  time.Duration // of the load; looking at the worker in between comes on top
	Lives   int           // of the worker; every second one ends by kill -9, the last never
	Clients int
	Rate    float64 // requests a second, of all clients together; 0: one after the other
	// Faulty says that the worker's host is made to fail by chance: a request
	// may be refused for that, nothing worse.
	Faulty  bool
	Lambdas int    // alike, more than fit into the worker's memory at once
	Seed    uint64 // of what is sent and killed when
	Talk    io.Writer
}

// DefaultConfig returns a load for a worker with PoolMB of memory.
func DefaultConfig(length time.Duration) Config {
	lives := min(max(3, int(length/(3*time.Minute))|1), 21)
	return Config{Length: length, Lives: lives, Clients: 8, Lambdas: 16, Seed: 1, Talk: io.Discard}
}

// PoolMB is the memory pool of a worker on which the lambdas of DefaultConfig
// displace each other.
const PoolMB = 600

// Run wears node out and reports. An error means that it could not be done;
// what node did wrong is in the report.
func Run(ctx context.Context, cfg Config, node Node) (*Report, error) {
	r := &runner{
		cfg: cfg, node: node, report: newReport(cfg),
		random: rand.New(rand.NewPCG(cfg.Seed, cfg.Seed)),
		client: &http.Client{Transport: &http.Transport{
			MaxIdleConnsPerHost: cfg.Clients, DisableCompression: true,
		}},
	}
	defer r.client.CloseIdleConnections()
	begun := time.Now()
	for life := range cfg.Lives {
		if err := r.live(ctx, life, cfg.Length/time.Duration(cfg.Lives)); err != nil {
			return nil, fmt.Errorf("soak, life %d: %w", life+1, err)
		}
	}
	if err := r.end(ctx); err != nil {
		return nil, fmt.Errorf("end soak: %w", err)
	}
	r.report.Took = time.Since(begun)
	return r.report, nil
}

// runner is one soak.
type runner struct {
	cfg     Config
	node    Node
	client  *http.Client
	random  *rand.Rand // of the runner's own goroutine
	report  *Report
	outages outages
	life    *life
}

// live runs the worker through one life: load for a time, then the end.
func (r *runner) live(ctx context.Context, number int, length time.Duration) error {
	r.life = newLife(number)
	if number%2 == 1 && number != r.cfg.Lives-1 {
		return r.short(ctx, length)
	}
	// What is made once is made in the first, small part.
	before, err := r.part(ctx, length/5)
	if err != nil {
		return err
	}
	after, err := r.part(ctx, length-length/5)
	if err != nil {
		return err
	}
	r.report.compare(number+1, before, after)
	if number == r.cfg.Lives-1 {
		return nil
	}
	return r.node.Restart(ctx)
}

// part is a load and an orderly end of it. It returns what the worker holds
// then, without a lambda.
func (r *runner) part(ctx context.Context, length time.Duration) (Holding, error) {
	if err := r.load(ctx, length, nil); err != nil {
		return Holding{}, err
	}
	r.judge(ctx)
	if err := r.tally(ctx); err != nil {
		return Holding{}, err
	}
	if err := r.clear(ctx); err != nil {
		return Holding{}, err
	}
	return r.holding(ctx)
}

// short is a life that is cut short by kill -9 under load.
func (r *runner) short(ctx context.Context, length time.Duration) error {
	err := r.load(ctx, length, r.killWorker)
	r.judgeLogs(ctx, false)
	return err
}

// load installs the lambdas and lets clients call them; last runs while they
// still do.
func (r *runner) load(ctx context.Context, length time.Duration, last func(context.Context) error) error {
	if err := r.installAll(ctx); err != nil {
		return err
	}
	stop := r.startClients(ctx)
	err := r.havoc(ctx, time.Now().Add(length))
	if err == nil && last != nil {
		err = last(ctx)
	}
	stop()
	fmt.Fprintf(r.cfg.Talk, "life %d of %d: %s\n", r.life.number+1, r.cfg.Lives, r.report.progress())
	return err
}

// killWorker is kill -9 while everything goes on.
func (r *runner) killWorker(ctx context.Context) error {
	end := r.outages.begin(workerKilled)
	defer end()
	r.report.count(&r.report.WorkerKills)
	return r.node.Kill(ctx)
}

// end stops the worker and looks for what is left of it.
func (r *runner) end(ctx context.Context) error {
	if err := r.node.Stop(ctx); err != nil {
		return err
	}
	left, err := r.node.Left(ctx)
	if err != nil {
		return err
	}
	r.report.Left = left
	if left != (Left{}) {
		r.report.fault("when the worker has stopped, there is left of it: %+v", left)
	}
	return nil
}
