package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
)

// Config is what a Registry needs.
type Config struct {
	Meta    Meta
	Code    Code
	Scratch string // directory for uploads in progress
	Limits  archive.Limits
	// Patience is how long the store may take for a write before it counts as
	// out of reach; 0: 3 s.
	Patience time.Duration
	Logger   *slog.Logger // nil: silent
}

// Registry is the lambdas of a cluster.
type Registry struct {
	cfg Config

	wake chan struct{} // holds a token if there is news

	mu     sync.RWMutex
	all    map[string]entry
	gone   map[string]uint64 // revision of the removal, of those removed lately
	synced chan struct{}     // closed once everything was seen for the first time
	fault  error             // why the store is out of reach; nil: it is not
	epoch  uint64            // of the store; 0: not known yet
	seen   uint64            // of every lambda everything up to this revision was seen
	moved  chan struct{}     // closed, and replaced, when something was seen
	news   map[string]bool   // lambdas that nobody has been told about
}

// entry is a lambda that is known.
type entry struct {
	api.Function
	stamp string
}

// New makes a registry. Follow must run.
func New(cfg Config) (*Registry, error) {
	if cfg.Meta == nil || cfg.Code == nil || cfg.Scratch == "" {
		return nil, errors.New("make registry: a store and a scratch directory are required")
	}
	if cfg.Patience <= 0 {
		cfg.Patience = 3 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Registry{
		cfg: cfg, all: map[string]entry{}, gone: map[string]uint64{},
		wake: make(chan struct{}, 1), moved: make(chan struct{}), news: map[string]bool{},
		synced: make(chan struct{}), fault: errors.New("the store has not answered yet"),
	}, nil
}

// Exists tells whether a lambda is installed. Before everything was seen once
// it says yes: the worker will know.
func (r *Registry) Exists(name string) bool {
	_, ok := r.Known(name)
	return ok
}

// Known is Exists, and tells how new what is known is: whoever serves something
// older serves what somebody has replaced.
func (r *Registry) Known(name string) (stamp string, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if e, ok := r.all[name]; ok {
		return e.stamp, true
	}
	select {
	case <-r.synced:
		return "", false
	default:
		return "", true
	}
}

// Health counts the lambdas and says "ok", or why the store is out of reach.
func (r *Registry) Health() (int, string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.fault != nil {
		return len(r.all), r.fault.Error()
	}
	return len(r.all), api.RegistryOK
}

// Synced is closed once everything in the store was seen.
func (r *Registry) Synced() <-chan struct{} { return r.synced }

// Get finds a lambda.
func (r *Registry) Get(name string) (api.Function, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e, ok := r.all[name]
	return e.Function, ok
}

// errUnread: the store has not been read since the boss started, so that what
// is not known may be there all the same.
var errUnread = errors.New("this boss has not read its store yet")

// readPatience is how long a reader waits for a boss that has just started;
// after that another boss is the better one to ask.
const readPatience = 500 * time.Millisecond

// find is Get for those who take an absence for a fact: ErrNotFound only once
// everything in the store was seen.
func (r *Registry) find(ctx context.Context, name string) (api.Function, error) {
	if f, ok := r.Get(name); ok {
		return f, nil
	}
	if err := r.awaitRead(ctx); err != nil {
		return api.Function{}, err
	}
	if f, ok := r.Get(name); ok {
		return f, nil
	}
	return api.Function{}, ErrNotFound
}

func (r *Registry) awaitRead(ctx context.Context) error {
	select {
	case <-r.synced:
		return nil
	default:
	}
	t := time.NewTimer(readPatience)
	defer t.Stop()
	select {
	case <-r.synced:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return errUnread
	}
}

// Names lists the lambdas, sorted.
func (r *Registry) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.all))
}

// All lists the lambdas, in no order.
func (r *Registry) All() []api.Function {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]api.Function, 0, len(r.all))
	for _, e := range r.all {
		all = append(all, e.Function)
	}
	return all
}

// put writes an entry, and shows it at once to whoever asks this boss.
func (r *Registry) put(ctx context.Context, f api.Function, last uint64) (api.Function, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return f, fmt.Errorf("store lambda %s: %w", f.Name, err)
	}
	if err := r.learnEpoch(ctx); err != nil {
		return f, fmt.Errorf("store lambda %s: %w", f.Name, err)
	}
	f.Revision, err = r.cfg.Meta.Put(ctx, f.Name, text, last)
	r.judge(err)
	if err != nil {
		return f, fmt.Errorf("store lambda %s: %w", f.Name, err)
	}
	r.see(f)
	return f, nil
}

// Remove deletes a lambda: ErrNotFound if there is none, ErrStale if it has
// another revision than last.
func (r *Registry) Remove(ctx context.Context, name string, last uint64) error {
	f, err := r.find(ctx, name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Patience)
	defer cancel()
	err = r.cfg.Meta.Delete(ctx, name, last)
	r.judge(err)
	if err != nil {
		return fmt.Errorf("remove lambda %s: %w", name, err)
	}
	r.unsee(name, f.Revision)
	return nil
}

// judge notes what the result of a write says about the store.
func (r *Registry) judge(err error) {
	if errors.Is(err, ErrStale) {
		err = nil
	}
	r.setFault(err)
}

// see takes over an entry unless a newer one is known.
func (r *Registry) see(f api.Function) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.all[f.Name]; (ok && old.Revision >= f.Revision) || r.gone[f.Name] >= f.Revision {
		return
	}
	delete(r.gone, f.Name)
	r.all[f.Name] = entry{f, stamp(r.epoch, f.Revision)}
	r.move(f.Name)
}

// unsee takes over a removal that had the given revision, or followed it.
func (r *Registry) unsee(name string, revision uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone[name] = max(r.gone[name], revision)
	if old, ok := r.all[name]; !ok || old.Revision > revision {
		return
	}
	delete(r.all, name)
	r.move(name)
}
