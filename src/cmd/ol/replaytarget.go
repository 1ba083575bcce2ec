package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/placement"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/replay"
)

// replayTarget is a worker, or a boss with its workers, that a replay is sent to.
type replayTarget struct {
	url    string
	others []string // further bosses
	header http.Header
	tls    func(*http.Client)
	at     caller // of the registry

	policy     config.Policy // of every worker
	told       bool          // the workers of a cluster say what policy they run
	guessed    bool          // they do not, and neither does whoever started them
	mixed      bool          // they run different ones
	unknown    error         // why the policy that they run cannot be predicted, nil if it can
	poolMB     int64         // of every worker
	startSlots int
	cores      int      // of all machines that workers run on; 0: not known
	placer     string   // "" for a single worker
	workers    []string // names, of a cluster
	where      string   // for people
	sources    []source // workers, for their events
}

// findReplayTarget is the worker that -p names, or the boss that --boss does.
func findReplayTarget(s streams, c *cli.Context) (*replayTarget, error) {
	if c.String("boss") != "" {
		b, err := findBoss(s, c, defaultBossDir)
		if err != nil {
			return nil, err
		}
		policy := config.New("/", 0).Policy
		policy.Preset = c.String("policy")
		t, err := bossTarget(c.Context, b, policy)
		if err != nil {
			return nil, err
		}
		t.guessed = !t.told
		if t.told && c.IsSet("policy") && t.policy.Preset != policy.Preset {
			s.say("warning: the workers say that they run %s: that is predicted, and not --policy %s", t.policy.Preset, policy.Preset)
		}
		return t, nil
	}
	n, err := runningNode(c.Context, s, workerDir(s, c), pathHint(c), "replay")
	if err != nil {
		return nil, err
	}
	return workerTarget(n)
}

func workerTarget(n node) (*replayTarget, error) {
	t := &replayTarget{
		url: n.url(""), at: n.call, policy: n.config.Policy, poolMB: int64(n.config.MemPoolMB), startSlots: slotsOf(n.config), cores: runtime.NumCPU(),
		where: "worker " + n.dir,
	}
	token, err := readToken(n.config.Cluster.TokenFile)
	if token != "" {
		t.header = http.Header{api.HeaderToken: {token}}
	}
	t.sources = []source{{"", t.url, t.header}}
	return t, err
}

func slotsOf(cfg config.Config) int {
	if cfg.StartSlots > 0 {
		return cfg.StartSlots
	}
	return 2 * runtime.GOMAXPROCS(0)
}

// bossTarget asks a boss for its workers. They run the policy given, unless they
// say otherwise themselves.
func bossTarget(ctx context.Context, b *bossClient, policy config.Policy) (*replayTarget, error) {
	var status api.BossStatus
	var nodes []api.NodeState
	if err := errors.Join(b.getJSON(ctx, api.PathStatus, &status), b.getJSON(ctx, api.PathNodes, &nodes)); err != nil {
		return nil, err
	}
	t := &replayTarget{
		url: b.urls[0], others: b.urls[1:], at: registryOf(b), policy: policy, startSlots: slotsOf(config.Config{}), placer: status.Placer, where: "boss " + strings.Join(b.urls, ", "),
		tls: func(c *http.Client) {
			c.Transport.(*http.Transport).TLSClientConfig = b.client.Transport.(*http.Transport).TLSClientConfig
		},
	}
	nodes = slices.DeleteFunc(nodes, func(n api.NodeState) bool { return n.State != "up" })
	for _, n := range nodes {
		t.workers = append(t.workers, n.Name)
		from := source{name: n.Name, url: n.URL}
		if b.token != "" {
			from.header = http.Header{api.HeaderToken: {b.token}}
		}
		t.sources = append(t.sources, from)
		if t.poolMB == 0 || n.PoolMB < t.poolMB {
			t.poolMB = n.PoolMB
		}
	}
	if len(t.workers) == 0 {
		return nil, fail(codeNotRunning, "replay", errors.New("the cluster has no worker that takes requests"), "see them: ol nodes list --boss "+b.urls[0])
	}
	slices.Sort(t.workers)
	return t, t.learn(nodes)
}

func (t *replayTarget) client(timeout time.Duration, connections int) *http.Client {
	c := replay.NewClient(timeout, connections)
	if t.tls != nil {
		t.tls(c)
	}
	return c
}

// node describes the target to a prediction in scaled time.
func (t *replayTarget) node(m replayMachine, scale float64) (replay.Node, error) {
	policy := t.policyAt(scale)
	n := replay.Node{
		PoolMB: t.poolMB, StartSlots: t.startSlots, StarveMin: time.Duration(max(policy.StarveAfterMS, 0)) * time.Millisecond, Overhead: m.StartTime,
		Policy: func() (catalog.Policy, error) { return makePolicy(policy) }, Nodes: t.workers,
	}
	if len(t.workers) < 2 {
		return n, nil
	}
	var err error
	n.Placer, err = placement.New(t.placer, 1)
	return n, err
}

// failure is what failed at the target: with the code of whoever knows one, or
// that it does not run if nobody answered.
func (t *replayTarget) failure(what string, err error) error {
	var known *failure
	var unanswered *url.Error
	switch {
	case errors.Is(err, replay.ErrFiles):
		return replayFailure(err)
	case errors.As(err, &known):
		return fail(known.code, what, err, known.next)
	case errors.As(err, &unanswered):
		return fail(codeNotRunning, what, err, seeTarget)
	}
	return fail(codeFailed, what, err, "")
}

// seeTarget is what to type when a target has gone away.
const seeTarget = "see whether it runs: ol worker status, ol nodes list --boss URL"

const (
	installing   = 4                // lambdas at a time
	installLimit = time.Minute      // for one
	removeLimit  = 10 * time.Second // for one
)

// install installs the lambdas of a workload.
func (t *replayTarget) install(ctx context.Context, w replay.Workload, cost lambdaCost) error {
	return t.each(ctx, w, func(ctx context.Context, l replay.Lambda) error {
		packed, err := cost.pack(l)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, installLimit)
		defer cancel()
		if _, err := upload(ctx, t.at, l.Name, packed); err != nil {
			return t.failure("install lambda "+l.Name, err)
		}
		return nil
	})
}

// remove removes them. What is not there is no error.
func (t *replayTarget) remove(ctx context.Context, w replay.Workload) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := t.each(ctx, w, func(ctx context.Context, l replay.Lambda) error {
		ctx, cancel := context.WithTimeout(ctx, removeLimit)
		defer cancel()
		resp, err := t.at(ctx, http.MethodDelete, api.PathRegistry+l.Name, nil, nil)
		if err != nil {
			return err
		}
		if err := resp.Body.Close(); err != nil {
			return err
		}
		if resp.StatusCode >= 300 && resp.StatusCode != http.StatusNotFound {
			return fmt.Errorf("remove lambda %s: %s", l.Name, resp.Status)
		}
		return nil
	})
	if err != nil {
		return t.failure("remove the replay's lambdas, of which some are left", err)
	}
	return nil
}

func (t *replayTarget) each(ctx context.Context, w replay.Workload, do func(context.Context, replay.Lambda) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(installing)
	for _, l := range w.Lambdas {
		group.Go(func() error { return do(ctx, l) })
	}
	return group.Wait()
}
