package packages

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/worker/sandbox"
	"golang.org/x/sync/singleflight"
)

// Config is what a Store needs.
type Config struct {
	Dir      string         // Pkgs_dir, absolute; made when the first package is wanted
	Runner   sandbox.Runner // runs pip; nil: no package can be installed
	Index    Index
	Limits   config.Limits // of one installer, zeros filled in
	MaxBytes int64         // disk space of all packages; 0 is no limit
	AtOnce   int           // installers at the same time, at least 1
	Patience time.Duration // how long a failure is told again without another try
	Logger   *slog.Logger

	// Installed, if set, is told about each installation that succeeded.
	Installed func(took time.Duration)
}

// Store holds the packages that are installed.
type Store struct {
	cfg    Config
	life   context.Context // installers run under it, not under a caller's
	cancel context.CancelFunc
	wg     sync.WaitGroup
	slots  chan struct{}
	checks singleflight.Group

	mu       sync.Mutex
	lock     *os.File            // nil until the directory was opened
	all      map[string]*pkg     // by name==version
	resolved map[string]string   // what was asked for without a version -> name==version
	flights  map[string]*flight  // by what pip is asked for
	failures map[string]*failure // the same
	agreed   map[string]bool     // claims that were found to hold
	jobs     int                 // ever begun
	closed   bool
}

// pkg is one installed package. Guarded by Store.mu, but for meta and dir.
type pkg struct {
	meta meta
	dir  string
	refs int // leases
	used time.Time
}

// flight is one installation in progress.
type flight struct {
	done chan struct{} // closed at its end
	key  string        // what it has installed
	err  error
}

type failure struct {
	err   error
	until time.Time
}

// New makes a store. Nothing is read or made before a lambda needs a package.
func New(cfg Config) *Store {
	s := &Store{
		cfg: cfg, slots: make(chan struct{}, max(cfg.AtOnce, 1)),
		flights: map[string]*flight{}, failures: map[string]*failure{}, agreed: map[string]bool{},
	}
	s.life, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close stops the installers and waits for them.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock == nil {
		return nil
	}
	err := s.lock.Close()
	s.lock = nil
	return err
}

// Lease returns the packages, installed, in the order given, and keeps them on
// disk until it is released. It waits for those that have to be installed. An
// *InstallError says which package cannot be had, and why.
func (s *Store) Lease(ctx context.Context, want []lambda.Requirement) (*Lease, error) {
	l := &Lease{store: s}
	l.refs.Store(1)
	if len(want) == 0 {
		return l, nil
	}
	if err := s.open(); err != nil {
		return nil, explain(want[0].Spec, err, "")
	}
	s.start(want)
	for _, r := range want {
		p, err := s.take(ctx, r)
		if err != nil {
			l.Release()
			return nil, err
		}
		l.pkgs = append(l.pkgs, p)
	}
	if err := s.check(ctx, l); err != nil {
		l.Release()
		return nil, err
	}
	return l, nil
}

// start begins every installation that is needed, so that they run side by side.
func (s *Store) start(want []lambda.Requirement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range want {
		if s.find(r) == nil && !s.closed {
			s.launch(r)
		}
	}
}

// tries is how often a package is looked for that goes as soon as it is there.
const tries = 3

// take waits for one package and counts a use of it.
func (s *Store) take(ctx context.Context, r lambda.Requirement) (*pkg, error) {
	for range tries {
		p, f, err := s.look(r)
		if p != nil || err != nil {
			return p, err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for package %s: %w", r.Spec, context.Cause(ctx))
		}
		if f.err != nil {
			return nil, f.err
		}
	}
	return nil, explain(r.Spec, errLarge, "")
}

// look returns the package with a use counted, or the installation to wait for,
// or the failure of a moment ago.
func (s *Store) look(r lambda.Requirement) (*pkg, *flight, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, errClosed
	}
	if p := s.find(r); p != nil {
		p.refs++
		return p, nil, nil
	}
	if f := s.failures[r.Spec]; f != nil && time.Now().Before(f.until) {
		return nil, nil, f.err
	}
	return nil, s.launch(r), nil
}

var errClosed = errors.New("the store of packages is closed")

// find returns the installed package that a requirement means. mu is held.
func (s *Store) find(r lambda.Requirement) *pkg { return s.all[s.keyOf(r)] }

// keyOf is the name and version that a requirement means, "" if that is not
// decided yet. mu is held.
func (s *Store) keyOf(r lambda.Requirement) string {
	if r.Version != "" {
		return key(r.Name, r.Version)
	}
	return s.resolved[r.Spec]
}

// launch installs in the background, once at a time for each package. mu is held.
func (s *Store) launch(r lambda.Requirement) *flight {
	if f := s.flights[r.Spec]; f != nil {
		return f
	}
	if f := s.failures[r.Spec]; f != nil && time.Now().Before(f.until) {
		return nil // look tells it
	}
	spec := r.Spec
	if k := s.keyOf(r); k != "" {
		spec = k // what was chosen before is chosen again
	}
	f := &flight{done: make(chan struct{})}
	s.flights[r.Spec] = f
	s.wg.Go(func() {
		defer close(f.done)
		f.key, f.err = s.install(r, spec)
		s.land(r, f)
	})
	return f
}

// land takes over the result of an installation.
func (s *Store) land(r lambda.Requirement, f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.flights, r.Spec)
	delete(s.failures, r.Spec)
	if f.err != nil && s.life.Err() == nil {
		s.failures[r.Spec] = &failure{f.err, time.Now().Add(s.cfg.Patience)}
		s.forgetFailures()
	}
}

// maxFailures bounds what is remembered of packages that nobody can have.
const maxFailures = 1000

// forgetFailures drops what is too old to be told. mu is held.
func (s *Store) forgetFailures() {
	if len(s.failures) <= maxFailures {
		return
	}
	now := time.Now()
	for spec, f := range s.failures {
		if now.After(f.until) {
			delete(s.failures, spec)
		}
	}
}

// Installed lists what is installed, name==version, sorted.
func (s *Store) Installed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
