package dispatch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/pause"
	"github.com/open-lambda/open-lambda/worker/fake"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

const coldTime = 100 * time.Millisecond

// node is a dispatcher over fake sandboxes.
type node struct {
	*Dispatcher
	t        *testing.T
	eng      *engine.Engine
	provider *fake.Provider
	handler  http.HandlerFunc
	startErr func(spec sandbox.Spec) error
}

type option func(*node, *Config, *engine.Config)

func newNode(t *testing.T, h http.HandlerFunc, opts ...option) *node {
	t.Helper()
	n := &node{t: t, handler: h}
	n.provider = &fake.Provider{Start: n.start}
	p, err := catalog.New("cidre-bss", "", "", catalog.Params{})
	if err != nil {
		t.Fatal(err)
	}
	ec := engine.Config{PoolMB: 1000, Scaler: p.Scaler, Evictor: p.Evictor}
	cfg := Config{Provider: n.provider, Freeze: 50 * time.Millisecond, Prefix: "t-"}
	for _, o := range opts {
		o(n, &cfg, &ec)
	}
	if n.eng, err = engine.New(ec); err != nil {
		t.Fatal(err)
	}
	cfg.Engine = n.eng
	if n.Dispatcher, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *node) start(ctx context.Context, spec sandbox.Spec) (http.Handler, error) {
	if !pause.For(ctx, coldTime) {
		return nil, ctx.Err()
	}
	if n.startErr != nil {
		if err := n.startErr(spec); err != nil {
			return nil, err
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Rev", spec.Dir)
		n.handler(w, r)
	}), nil
}

// end closes the dispatcher and checks that nothing is left.
func (n *node) end() {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := n.Close(ctx); err != nil {
		n.t.Error(err)
	}
	if live := n.provider.Live(); len(live) != 0 || !n.provider.Closed() {
		n.t.Errorf("%d sandboxes are left, provider closed: %v", len(live), n.provider.Closed())
	}
	if t := n.Totals(); t != (Totals{PeakMB: t.PeakMB}) {
		n.t.Errorf("left: %+v", t)
	}
}

func (n *node) define(name string, mb int64, change func(*Revision)) *Func {
	f := NewFunc(name)
	r := &Revision{Spec: sandbox.Spec{Function: name, Dir: "1"}, Engine: policies.Spec{MB: mb, Slots: 1}}
	if change != nil {
		change(r)
	}
	n.Define(f, r)
	return f
}

// get is an Exchange that keeps what it saw.
type get struct {
	id     string
	status int
	body   string
	sent   int
	once   bool  // refuse to send twice
	werr   error // failure to write to the client
}

func (g *get) Request(ctx context.Context, _ *Grant) (*http.Request, bool) {
	if g.sent++; g.once && g.sent > 1 {
		return nil, false
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://x/run/f?id="+g.id, http.NoBody)
	return r, err == nil
}

func (g *get) Answer(resp *http.Response, _ *Grant) error {
	g.status = resp.StatusCode
	b, err := io.ReadAll(resp.Body)
	g.body = string(b)
	return errors.Join(err, g.werr)
}

// Fault is part of Exchange.
func (g *get) Fault() error { return nil }

func (n *node) call(f *Func) (Grant, string, error) {
	g := &get{}
	gr, err := n.Do(n.t.Context(), f, g)
	return gr, g.body, err
}

// burst makes calls at the same time and returns their errors and grants.
func (n *node) burst(f *Func, count int) ([]Grant, []error) {
	grants, errs := make([]Grant, count), make([]error, count)
	var wg sync.WaitGroup
	for i := range count {
		wg.Go(func() { grants[i], errs[i] = n.Do(n.t.Context(), f, &get{}) })
	}
	wg.Wait()
	return grants, errs
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func slow(d time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if pause.For(r.Context(), d) {
			hello(w, r)
		}
	}
}
