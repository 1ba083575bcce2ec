package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime"
	"time"

	minimage "github.com/open-lambda/open-lambda/min-image"
	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/runc"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/wire"
	"github.com/open-lambda/open-lambda/worker"
)

// instanceOf names the sandboxes of the worker in dir on this host. The name
// follows from the directory alone, so that whoever cleans up after a killed
// worker finds what was its.
func instanceOf(dir string) string {
	sum := sha256.Sum256([]byte(realPath(dir)))
	return hex.EncodeToString(sum[:6])
}

// realPath follows the symbolic links in what exists of a path, so that a
// directory has one name however it is spelled.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(realPath(parent), filepath.Base(path))
}

// scratchOf is where the sandboxes of the worker in dir have their files.
func scratchOf(n node) string { return filepath.Join(n.config.WorkerDir, "sandboxes") }

// sockConfig turns a worker's configuration into that of its sandboxes.
func sockConfig(n node, logger *slog.Logger) sock.Config {
	cfg := sock.DefaultConfig(instanceOf(n.dir), scratchOf(n), minimage.Runtime())
	cfg.Base = n.config.SOCKBasePath
	cfg.Network = n.config.Network
	if cfg.Network == networkAuto {
		cfg.Network = sock.NetworkNone // whoever wants more settles it first
	}
	cfg.Seccomp = n.config.Features.EnableSeccomp
	cfg.UserNS = n.config.Features.UserNamespaces
	cfg.Zygote = n.config.Features.ImportCache != ""
	cfg.Pool = n.config.PoolSize
	if n.config.Sandbox == sandboxRunc {
		cfg.Zygote = false
	}
	if !cfg.Zygote {
		cfg.Pool = 0
	}
	if cfg.Zygote {
		cfg.TreeMB = int64(n.config.ImportCacheMB)
	}
	if n.config.Features.ImportCache == "multitree" {
		cfg.TreeCopies = max(2, runtime.NumCPU()/4)
	}
	cfg.ReuseCgroups = n.config.Features.ReuseCgroups
	cfg.Logger = logger
	cfg.Fault = sandboxFaults(n.config.Features.FaultPercent)
	return cfg
}

// reserveMB is the memory that a worker with this configuration takes besides
// its sandboxes.
func reserveMB(c config.Config) int {
	return int(sockConfig(node{config: c}, slog.New(slog.DiscardHandler)).ReserveMB())
}

// warmLimit bounds how long a start waits for zygote and pool.
const warmLimit = 5 * time.Second

// sandboxRunc is the value of the configuration's key sandbox that asks for OCI
// containers.
const sandboxRunc = "runc"

// mechanism makes sandboxes: SOCK, or OCI containers.
type mechanism interface {
	Create(ctx context.Context, spec sock.Spec) (*sock.Sandbox, error)
	Run(ctx context.Context, job sock.Job) error
	Estimate(spec sock.Spec) (time.Duration, bool)
	Describe() string
	Close(ctx context.Context) error
}

// newProvider makes the mechanism for sandboxes that the configuration names.
func newProvider(ctx context.Context, n node, logger *slog.Logger) (*sockProvider, error) {
	network, why := settleNetwork(n.config.Network)
	n.config.Network = network
	logger.Info("network of lambdas", slog.String("network", network), slog.String("why", why))
	settings, err := withTree(sockConfig(n, logger), n)
	if err != nil {
		return nil, err
	}
	settings.NAT = natConfig(ctx, n.config, logger)
	open := openSOCK
	if n.config.Sandbox == sandboxRunc {
		open = openRunc
	}
	m, err := open(ctx, settings, logger)
	var told *failure
	switch {
	case errors.As(err, &told):
		return nil, err
	case errors.Is(err, sock.ErrInUse):
		return nil, fail(codeFailed, "start worker", err, "stop it first: ol worker down")
	case err != nil:
		return nil, fail(codeUnfit, "start worker", err, "see what this machine lacks: ol doctor")
	}
	logger.Info("sandboxes are ready", slog.String("made_of", m.Describe()))
	return &sockProvider{m, n.config.Network, installerNetwork(n.config.Network, n.config.PipMirror)}, nil
}

// openSOCK waits until zygote and pool are there, so that the first request
// finds them.
func openSOCK(ctx context.Context, cfg sock.Config, logger *slog.Logger) (mechanism, error) {
	p, err := sock.New(cfg)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, warmLimit)
	defer cancel()
	if err := p.Warm(ctx); err != nil {
		// Sandboxes can still be made, only slower.
		logger.Warn("zygote and pool are late", slog.Any("error", err))
	}
	return p, nil
}

func openRunc(_ context.Context, cfg sock.Config, _ *slog.Logger) (mechanism, error) {
	program, err := requireRunc("start worker")
	if err != nil {
		return nil, err
	}
	p, err := runc.New(runc.Config{Config: cfg, Helper: program})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// requireRunc finds the program that makes OCI containers.
func requireRunc(what string) (string, error) {
	program, err := runc.FindHelper()
	if err != nil {
		return "", fail(codeUnfit, what, fmt.Errorf("sandbox runc: %w", err), mendRunc)
	}
	return program, nil
}

// mendRunc is how to come by that program.
const mendRunc = "make build makes it where there is a C compiler (apt-get install gcc libc6-dev); put it beside ol or in PATH"

// sockProvider lets the worker use sandboxes of either kind. It translates
// types and errors, and nothing else.
type sockProvider struct {
	sock    mechanism
	network string // the most that a lambda may ask for
	fetch   string // network of installers
}

// Create implements worker.Provider.
func (p sockProvider) Create(ctx context.Context, spec worker.SandboxSpec) (worker.Sandbox, error) {
	// A worker's operator decides how far lambdas may reach, a lambda how far not.
	if spec.Network != "" && reach(spec.Network) > reach(p.network) {
		return nil, &worker.StartError{Lambda: true, Reason: fmt.Sprintf(
			"its ol.yaml asks for network %q, but lambdas of this worker have at most %q: start the worker with -o network=%s", spec.Network, p.network, spec.Network)}
	}
	made, err := p.sock.Create(ctx, sockSpec(spec))
	var failed *sock.StartError
	if errors.As(err, &failed) {
		return nil, &worker.StartError{Lambda: failed.Lambda, Reason: failed.Reason, Output: failed.Output, Err: failed.Err}
	}
	if err != nil {
		return nil, &worker.StartError{Reason: "make sandbox", Err: err}
	}
	return sockSandbox{made, wire.New(made.Dial)}, nil
}

// Estimate implements the worker's sandbox.Estimator.
func (p sockProvider) Estimate(spec worker.SandboxSpec) (time.Duration, bool) {
	return p.sock.Estimate(sockSpec(spec))
}

func sockSpec(spec worker.SandboxSpec) sock.Spec {
	var calls http.Handler
	if spec.Calls != nil {
		calls = spec.Calls(spec.ID)
	}
	return sock.Spec{
		ID: spec.ID, Function: spec.Function, Runtime: spec.Runtime, Dir: spec.Dir, Entry: spec.Entry, Handler: spec.Handler, Env: spec.Env,
		Packages: sockPackages(spec.Packages), Imports: spec.Imports, Own: spec.Own,
		MemMB: spec.MemMB, CPUPercent: spec.CPUPercent, Procs: spec.Procs, Slots: spec.Slots, MaxBody: spec.MaxBody,
		Network: spec.Network, Calls: calls, Output: spec.Output,
	}
}

func sockPackages(all []worker.Package) []sock.Package {
	out := make([]sock.Package, len(all))
	for i, p := range all {
		out[i] = sock.Package{Name: p.Name, Dir: p.Dir, Modules: p.Modules}
	}
	return out
}

// Run implements worker.Runner.
func (p sockProvider) Run(ctx context.Context, job worker.Job) error {
	err := p.sock.Run(ctx, sock.Job{
		ID: job.ID, Dir: job.Dir, Packages: sockPackages(job.Packages), Args: sock.RuntimeArgs(job.Module, job.Args...), Env: job.Env,
		Network: p.fetch, MemMB: job.MemMB, CPUPercent: job.CPUPercent, Procs: job.Procs, Output: job.Output,
	})
	if failed := (*sock.JobError)(nil); errors.As(err, &failed) {
		return &worker.JobError{Reason: failed.Reason, Code: failed.Code, Output: failed.Output}
	}
	return err
}

// Close implements worker.Provider.
func (p sockProvider) Close(ctx context.Context) error { return p.sock.Close(ctx) }

// sockSandbox is one sandbox, as the worker sees it.
type sockSandbox struct {
	*sock.Sandbox
	*wire.Transport
}

// Destroy implements worker.Sandbox.
func (s sockSandbox) Destroy(ctx context.Context) error {
	return errors.Join(s.Transport.Close(), s.Sandbox.Destroy(ctx))
}

// Info implements worker.Sandbox.
func (s sockSandbox) Info() worker.SandboxInfo {
	i := s.Sandbox.Info()
	return worker.SandboxInfo{
		Origin: i.Origin, Init: i.Init, Exited: i.Exited, ExitText: i.ExitText, MemBytes: i.MemBytes, Detail: i.Detail,
	}
}
