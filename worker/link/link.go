package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/pause"
)

// Node is the worker, as far as bosses concern it.
type Node interface {
	Load() api.Load        // everything, cheap enough to be asked 20 times a second
	Drain(on bool)         // a boss wishes so
	Changed(name []string) // lambdas have new code, or none any more
	// Kafka is what a boss says about whose Kafka consumers run here. linked is
	// false if the link to the boss is lost, and its word with it.
	Kafka(boss string, names []string, linked bool)
}

// Config is what a Link needs.
type Config struct {
	Bosses  []string // URLs, http://host:port
	Name    string   // of the worker
	URL     string   // where bosses reach it
	Version string   // of the program
	Token   string   // shown to bosses; "": none
	TLS     *tls.Config
	Node    Node
	Setup   *api.Setup // nil: not said
	// Wake, if set, is sent to when the load may have changed; otherwise it is
	// looked at every api.ReportEvery.
	Wake   <-chan struct{}
	Dial   func(ctx context.Context, network, addr string) (net.Conn, error) // nil: the system's
	Logger *slog.Logger                                                      // nil: silent
}

func (c *Config) fill() error {
	if c.Node == nil || c.Name == "" || c.URL == "" {
		return errors.New("make link: a node, its name and its URL are required")
	}
	if len(c.Bosses) == 0 {
		return errors.New("make link: at least one boss is required")
	}
	c.Bosses = slices.Clone(c.Bosses)
	for i, b := range c.Bosses {
		u, err := url.Parse(b)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("make link: the boss' address %q is no URL like http://host:5000", b)
		}
		c.Bosses[i] = strings.TrimRight(b, "/")
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{Timeout: api.LostAfter}).DialContext
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Link is a worker's membership in a cluster.
type Link struct {
	cfg      Config
	instance string
	client   *http.Client

	mu       sync.Mutex
	sessions map[*session]struct{}
}

// New makes a link; Run keeps it.
func New(cfg Config) (*Link, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("make link: %w", err)
	}
	transport := &http.Transport{
		TLSClientConfig: cfg.TLS, DisableKeepAlives: true, ResponseHeaderTimeout: joinLimit,
		DialContext: cfg.Dial,
	}
	return &Link{
		cfg: cfg, instance: id.String(), client: &http.Client{Transport: transport, CheckRedirect: noRedirect},
		sessions: map[*session]struct{}{},
	}, nil
}

// joinLimit is how long a boss may take to let a worker in. It is long because
// whoever gives up comes again, and a boss to which all workers come at once is
// not helped by that.
const joinLimit = 5 * api.LostAfter

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Run keeps a link to every boss until ctx ends.
func (l *Link) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, boss := range l.cfg.Bosses {
		wg.Go(func() { l.keep(ctx, boss) })
	}
	wg.Go(func() { l.watch(ctx) })
	wg.Wait()
	l.client.CloseIdleConnections()
}

// Times between two attempts to reach a boss, doubled each time.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = time.Second
)

// keep holds the link to one boss.
func (l *Link) keep(ctx context.Context, boss string) {
	wait := firstPause
	told := false
	for ctx.Err() == nil {
		begun := time.Now()
		err := l.session(ctx, boss)
		if ctx.Err() != nil {
			return
		}
		if time.Since(begun) > lastPause {
			wait, told = firstPause, false // it was a good one
		}
		if !told {
			l.cfg.Logger.Warn("no link to boss", slog.String("boss", boss), slog.Any("error", err))
			told = true
		}
		// Workers that lost the same boss do not come back in step.
		if !pause.For(ctx, wait/2+rand.N(wait)) {
			return
		}
		wait = min(2*wait, lastPause)
	}
}

// watch wakes the sessions when the load may have changed.
func (l *Link) watch(ctx context.Context) {
	if l.cfg.Wake != nil {
		for {
			select {
			case <-l.cfg.Wake:
				l.wake()
			case <-ctx.Done():
				return
			}
		}
	}
	tick := time.NewTicker(api.ReportEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.wake()
		case <-ctx.Done():
			return
		}
	}
}

func (l *Link) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.sessions {
		select {
		case s.wake <- struct{}{}:
		default: // it has not looked yet
		}
	}
}
