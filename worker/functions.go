package worker

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/metrics"
	"github.com/open-lambda/open-lambda/worker/code"
	"github.com/open-lambda/open-lambda/worker/dispatch"
	"github.com/open-lambda/open-lambda/worker/invoke"
	"github.com/open-lambda/open-lambda/worker/kafka"
	"github.com/open-lambda/open-lambda/worker/logs"
	"github.com/open-lambda/open-lambda/worker/packages"
	"github.com/open-lambda/open-lambda/worker/sandbox"
	"github.com/open-lambda/open-lambda/worker/server"
)

// functions joins the code cache to the dispatcher: a version of the code is
// a revision of a function. It implements server.Lambdas.
type functions struct {
	calls      *invoke.Desk
	settings   *config.Config
	cache      *code.Cache
	packages   *packages.Store
	dispatcher *dispatch.Dispatcher
	metrics    *metrics.Metrics
	logs       *logs.Store // nil: output is dropped
	warn       func(what string, err error)
	kafka      *kafka.Manager // set once, before anything is served

	all sync.Map // name -> *function

	remember int // see rememberGone

	mu      sync.Mutex
	removed []string // lambdas that are gone, the longest ago first; names may be there twice
}

// function is one lambda that was found at least once.
type function struct {
	current atomic.Pointer[deployed]

	mu      sync.Mutex // orders Define and Forget
	handle  *dispatch.Func
	lastSeq uint64
	dropped bool // another stands for the name
}

// deployed is a version that the dispatcher runs.
type deployed struct {
	version *code.Version
	lambda  server.Lambda
}

// Lookup returns the lambda with its newest code, as fresh as
// registry_cache_ms asks for, and at least as new as the stamp least.
func (fs *functions) Lookup(ctx context.Context, name, least string) (*server.Lambda, error) {
	for {
		v, err := fs.cache.Get(ctx, name, least)
		if err != nil {
			return nil, err
		}
		f := fs.function(name)
		if d := f.current.Load(); d != nil && d.version.Seq >= v.Seq {
			return &d.lambda, nil
		}
		if err := v.Config.CheckBounds(fs.settings); err != nil {
			return nil, &code.BrokenError{Name: name, Err: err}
		}
		d, ok, err := fs.equip(ctx, f, v)
		if err != nil {
			return nil, err
		}
		if ok {
			return &d.lambda, nil
		}
		// v was replaced between Get and here: the next Get has the newer one.
	}
}

// Prepare makes a lambda ready to be called, unless that means installing
// packages for somebody who may never call.
func (fs *functions) Prepare(ctx context.Context, name string) error {
	v, err := fs.cache.Get(ctx, name, "")
	if err == nil && (len(v.Config.Requires) == 0 || v.Config.MinSandboxes > 0) {
		_, err = fs.Lookup(ctx, name, "")
	}
	return err
}

// Changed is told about uploads and deletions through this worker.
func (fs *functions) Changed(name string) {
	fs.cache.Changed(name)
	if fs.kafka != nil {
		fs.kafka.Changed(name)
	}
}

func (fs *functions) function(name string) *function {
	if f, ok := fs.all.Load(name); ok {
		return f.(*function)
	}
	f, _ := fs.all.LoadOrStore(name, &function{handle: dispatch.NewFunc(name)})
	return f.(*function)
}

// equip deploys a version once the packages that it needs are there.
func (fs *functions) equip(ctx context.Context, f *function, v *code.Version) (*deployed, bool, error) {
	lease, err := fs.packages.Lease(ctx, v.Config.Requires)
	if err != nil {
		return nil, false, err
	}
	defer lease.Release() // the dispatcher holds its own
	d, ok := fs.deploy(f, v, lease)
	return d, ok, nil
}

// deploy makes v the function's revision unless a newer one is already.
// false: v is gone.
func (fs *functions) deploy(f *function, v *code.Version, lease *packages.Lease) (*deployed, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d := f.current.Load(); d != nil && d.version.Seq >= v.Seq {
		return d, true
	}
	if f.dropped || v.Seq <= f.lastSeq || !v.Retain() {
		return nil, false
	}
	defer v.Release() // the dispatcher holds its own reference from here on
	fs.dispatcher.Define(f.handle, fs.revision(v, lease))
	f.lastSeq = v.Seq
	d := &deployed{version: v, lambda: server.Lambda{
		Name: v.Name, Config: &v.Config, Func: f.handle, Metrics: fs.metrics.Function(v.Name),
	}}
	f.current.Store(d)
	return d, true
}

// gone takes a version out of service that the registry has no more, unless
// a newer one runs already.
func (fs *functions) gone(v *code.Version) {
	f := fs.function(v.Name)
	f.retract(v, fs.dispatcher)
	if fs.logs != nil {
		fs.logs.Forget(v.Name)
	}
	fs.forgetOldest(v.Name)
}

// retract takes v out of service, unless a newer one runs already.
func (f *function) retract(v *code.Version, from *dispatch.Dispatcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// A look-up that still holds v must not deploy it again.
	f.lastSeq = max(f.lastSeq, v.Seq)
	if d := f.current.Load(); d != nil && d.version == v {
		f.current.Store(nil)
		from.Forget(f.handle)
	}
}

// rememberGone is of how many lambdas that are gone the worker keeps counters,
// log and history: somebody may still want to read them, and a lambda that comes
// back is known. Without a bound a worker to which ever new ones come
// would grow for good.
const rememberGone = 256

// forgetOldest notes that a lambda is gone, and forgets the one that is gone
// longest when there are too many.
func (fs *functions) forgetOldest(gone string) {
	fs.mu.Lock()
	fs.removed = append(fs.removed, gone)
	if len(fs.removed) <= fs.remember {
		fs.mu.Unlock()
		return
	}
	oldest := fs.removed[0]
	fs.removed = slices.Delete(fs.removed, 0, 1)
	back := slices.Contains(fs.removed, oldest) // it was there again meanwhile
	fs.mu.Unlock()
	if !back {
		fs.drop(oldest)
	}
}

// drop forgets a lambda, unless it has come back.
func (fs *functions) drop(name string) {
	f := fs.function(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current.Load() != nil {
		return
	}
	f.dropped = true
	fs.all.CompareAndDelete(name, f)
	fs.metrics.Forget(name)
	if fs.logs != nil {
		fs.warn("remove log", fs.logs.Remove(name))
	}
	fs.dispatcher.Retire(f.handle)
}

// revision describes to the dispatcher how to run a version.
func (fs *functions) revision(v *code.Version, lease *packages.Lease) *dispatch.Revision {
	e := v.Config.Effective(fs.settings)
	entry, err := v.Config.EntryIn(v.Dir)
	if err != nil || entry == "" {
		entry = v.Config.Entry() // the runtime says what it lacks
	}
	r := &dispatch.Revision{
		Spec: sandbox.Spec{
			Function: v.Name, Dir: v.Dir, Entry: entry, Handler: v.Config.Handler,
			Env: maps.Clone(v.Config.Environment), MemMB: int64(e.MemMB), CPUPercent: e.CPUPercent, Procs: e.Procs,
			Imports: v.Config.Imports, Own: v.Config.Own, Packages: lease.Packages(),
			Slots: e.Slots, Runtime: e.Runtime, Network: e.Network, MaxBody: int64(fs.settings.MaxBodyMB) << 20, Output: io.Discard,
		},
		Engine: policies.Spec{
			MB: int64(e.MemMB), Slots: e.Slots, Min: e.Min, Max: e.Max, OneShot: e.OneShot,
		},
		Runtime: e.Runtime,
		Retain:  func() { v.Retain(); lease.Retain() },
		Release: func() { v.Release(); lease.Release() },
	}
	if calls := v.Config.Calls; len(calls) > 0 {
		r.Spec.Calls = func(id string) http.Handler { return fs.calls.Handler(id, v.Name, calls) }
	}
	if fs.logs != nil {
		r.Output = func() io.WriteCloser { return fs.logs.Sandbox(v.Name) }
	}
	return r
}
