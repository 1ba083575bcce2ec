package kafka

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/lambda"
)

// ErrNoTrigger: the lambda has no Kafka trigger.
var ErrNoTrigger = errors.New("the lambda has no Kafka trigger: name one in its ol.yaml")

// Config is what a Manager needs.
type Config struct {
	// Triggers looks a lambda up; gone tells whether err means that there is
	// none.
	Triggers func(ctx context.Context, name string) (triggers []lambda.KafkaTrigger, gone bool, err error)
	Run      http.Handler // answers /run/
	Retry    Retry
	Logger   *slog.Logger // nil: silent
}

// Manager has the consumers of a worker: those that were registered here, and
// those that bosses assign to it.
type Manager struct {
	cfg    Config
	ctx    context.Context // of the consumers
	cancel context.CancelFunc
	poke   chan struct{}
	wg     sync.WaitGroup

	mu         sync.Mutex
	registered map[string]bool
	assigned   map[string][]string // by boss
	changed    map[string]bool     // lambdas to be looked up again

	running map[string]*running // touched by keep alone
}

// running is the consumers of one lambda.
type running struct {
	triggers []lambda.KafkaTrigger
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// New makes a manager; Close ends its consumers.
func New(cfg Config) (*Manager, error) {
	if cfg.Triggers == nil || cfg.Run == nil {
		return nil, errors.New("make Kafka manager: lambdas and a way to run them are required")
	}
	if cfg.Retry.Base <= 0 {
		cfg.Retry.Base = time.Second
	}
	if cfg.Retry.Cap <= 0 {
		cfg.Retry.Cap = time.Minute
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Manager{
		cfg: cfg, poke: make(chan struct{}, 1), registered: map[string]bool{}, assigned: map[string][]string{},
		changed: map[string]bool{}, running: map[string]*running{},
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.wg.Go(m.keep)
	return m, nil
}

// Close ends every consumer: messages that are being handled may be handled
// again elsewhere. It may be called again.
func (m *Manager) Close() {
	m.cancel()
	m.wg.Wait()
}

// Register starts the consumers of a lambda: ErrNoTrigger if it has none to be
// started, or the error of looking it up.
func (m *Manager) Register(ctx context.Context, name string) error {
	triggers, _, err := m.cfg.Triggers(ctx, name)
	if err != nil {
		return err
	}
	if len(triggers) == 0 {
		return ErrNoTrigger
	}
	m.change(func() { m.registered[name] = true; m.changed[name] = true })
	return nil
}

// Unregister stops the consumers of a lambda that were registered; false if
// they were not. Those that a boss assigns go on.
func (m *Manager) Unregister(name string) bool {
	was := false
	m.change(func() {
		was = m.registered[name]
		delete(m.registered, name)
	})
	return was
}

// Assign is the word of a boss about which lambdas' consumers run here.
func (m *Manager) Assign(boss string, names []string) {
	m.change(func() { m.assigned[boss] = slices.Clone(names) })
}

// Unlinked drops the word of a boss that is gone, if there is that of another:
// without any boss everything stays as it is.
func (m *Manager) Unlinked(boss string) {
	m.change(func() {
		if len(m.assigned) > 1 {
			delete(m.assigned, boss)
		}
	})
}

// Changed looks lambdas up again whose code has changed.
func (m *Manager) Changed(names ...string) {
	m.change(func() {
		for _, name := range names {
			m.changed[name] = true
		}
	})
}

func (m *Manager) change(do func()) {
	m.mu.Lock()
	do()
	m.mu.Unlock()
	select {
	case m.poke <- struct{}{}:
	default: // it has not looked yet
	}
}

// Names lists the lambdas whose consumers are to run here, sorted.
func (m *Manager) Names() []string {
	wanted, _ := m.take(false)
	return append([]string{}, slices.Sorted(maps.Keys(wanted))...)
}

// take returns what is to run, and which lambdas have changed since it was
// asked last if clear is set.
func (m *Manager) take(clear bool) (wanted, changed map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	wanted = maps.Clone(m.registered)
	for _, names := range m.assigned {
		for _, name := range names {
			wanted[name] = true
		}
	}
	changed = maps.Clone(m.changed)
	if clear {
		m.changed = map[string]bool{}
	}
	return wanted, changed
}

// lookAgain is when a lambda that could not be looked up is looked up again.
const lookAgain = 2 * time.Second

// keep runs what is to run until the manager is closed.
func (m *Manager) keep() {
	defer func() {
		for name := range m.running {
			m.end(name)
		}
	}()
	for {
		var later <-chan time.Time
		wanted, changed := m.take(true)
		if failed := m.reconcile(wanted, changed); len(failed) > 0 {
			later = time.After(lookAgain)
			m.mu.Lock()
			for _, name := range failed {
				m.changed[name] = true
			}
			m.mu.Unlock()
		}
		select {
		case <-m.poke:
		case <-later:
		case <-m.ctx.Done():
			return
		}
	}
}

// reconcile starts and stops consumers. Lambdas that could not be looked up are
// returned, and left as they are.
func (m *Manager) reconcile(wanted, changed map[string]bool) (failed []string) {
	for name := range m.running {
		if !wanted[name] {
			m.end(name)
		}
	}
	for name := range wanted {
		if m.running[name] != nil && !changed[name] {
			continue
		}
		triggers, gone, err := m.cfg.Triggers(m.ctx, name)
		if err != nil && !gone {
			failed = append(failed, name)
			continue
		}
		if r := m.running[name]; r != nil && reflect.DeepEqual(r.triggers, triggers) {
			continue
		}
		m.end(name)
		if len(triggers) > 0 {
			m.start(name, triggers)
		}
	}
	return failed
}

// start runs a consumer for each trigger.
func (m *Manager) start(name string, triggers []lambda.KafkaTrigger) {
	ctx, cancel := context.WithCancel(m.ctx)
	r := &running{triggers: triggers, stop: cancel}
	for _, t := range triggers {
		c, err := newConsumer(name, t, m.cfg.Run, m.cfg.Retry, m.cfg.Logger)
		if err != nil { // an address that is none
			m.cfg.Logger.Error("start Kafka consumer", slog.String("function", name), slog.Any("error", err))
			continue
		}
		r.wg.Go(func() { c.work(ctx) })
	}
	m.running[name] = r
	m.cfg.Logger.Info("Kafka consumers started", slog.String("function", name), slog.Int("triggers", len(triggers)))
}

// end stops the consumers of a lambda and waits for them.
func (m *Manager) end(name string) {
	r := m.running[name]
	if r == nil {
		return
	}
	r.stop()
	r.wg.Wait()
	delete(m.running, name)
	m.cfg.Logger.Info("Kafka consumers stopped", slog.String("function", name))
}
