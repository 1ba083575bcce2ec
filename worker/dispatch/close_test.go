package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

func TestCloseDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, slow(2*time.Second))
		f := n.define("f", 50, nil)
		var errs []error
		var wg sync.WaitGroup
		wg.Go(func() { _, errs = n.burst(f, 3) })
		time.Sleep(coldTime + time.Millisecond)
		begun := time.Now()
		n.end()
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Errorf("requests in progress were not drained: %v", err)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("took %v", took)
		}
		if _, _, err := n.call(f); !errors.Is(err, ErrClosing) {
			t.Errorf("got %v", err)
		}
		if err := n.Close(t.Context()); err != nil {
			t.Errorf("closing again: %v", err)
		}
	})
}

func TestCloseCutsAtDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, slow(time.Hour), func(_ *node, _ *Config, e *engine.Config) { e.PoolMB = 100 })
		f := n.define("f", 50, nil)
		var errs []error
		var wg sync.WaitGroup
		wg.Go(func() { _, errs = n.burst(f, 4) }) // two run, two wait
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := n.Close(ctx); err != nil {
			t.Error(err)
		}
		wg.Wait()
		for _, err := range errs {
			if !errors.Is(err, ErrClosing) {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestCloseWhileStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, hello)
		f := n.define("f", 50, func(r *Revision) { r.Engine.Min = 3 })
		_ = f
		time.Sleep(coldTime / 2)
		n.end()
	})
}

// TestChaos lets sandboxes die, starts fail, clients leave and code change at
// random. Every request is answered once, runs at most once, and afterwards
// the engine's invariants hold and nothing is left.
func TestChaos(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { chaos(t, seed) })
		})
	}
}

func chaos(t *testing.T, seed uint64) {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 1))
	chance := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(n)
	}
	var runs sync.Map
	n := newNode(t, func(w http.ResponseWriter, r *http.Request) {
		c, _ := runs.LoadOrStore(r.URL.Query().Get("id"), new(atomic.Int32))
		c.(*atomic.Int32).Add(1)
		slow(time.Duration(chance(40))*time.Millisecond)(w, r)
	}, func(_ *node, c *Config, e *engine.Config) { e.PoolMB, c.Queue, e.StartSlots = 300, 20*time.Second, 3 })
	n.startErr = func(sandbox.Spec) error {
		switch chance(30) {
		case 0:
			return errors.New("host")
		case 1:
			return &sandbox.StartError{Lambda: true, Reason: "lambda"}
		}
		return nil
	}
	var fns []*Func
	for i := range 6 {
		fns = append(fns, n.define(fmt.Sprint("f", i), int64(20+20*i), func(r *Revision) {
			r.Runtime, r.Engine.Slots, r.Engine.Min, r.Engine.OneShot = 30*time.Millisecond, 1+i%2, i%3/2, i == 4
		}))
	}
	stop := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(20+chance(60)) * time.Millisecond):
			}
			if live := n.provider.Live(); len(live) > 0 {
				live[chance(len(live))].Die("killed")
			}
			if chance(10) == 0 {
				i := chance(len(fns))
				n.Define(fns[i], &Revision{Spec: sandbox.Spec{Function: "x"}, Engine: policies.Spec{MB: int64(20 + 20*i), Slots: 1}})
			}
		}
	})
	answers := callAll(t, n, fns, chance)
	close(stop)
	killer.Wait()
	n.mu.Lock()
	if err := n.eng.Check(); err != nil {
		t.Error(err)
	}
	n.mu.Unlock()
	n.end()
	checkAnswers(t, answers, &runs)
}

type result struct {
	id  string
	err error
}

func callAll(t *testing.T, n *node, fns []*Func, chance func(int) int) []result {
	results := make([]result, 400)
	var wg sync.WaitGroup
	for i := range results {
		time.Sleep(time.Duration(chance(8)) * time.Millisecond)
		wg.Go(func() {
			ctx := t.Context()
			if chance(4) == 0 {
				c, cancel := context.WithTimeout(ctx, time.Duration(chance(300))*time.Millisecond)
				defer cancel()
				ctx = c
			}
			g := &get{id: fmt.Sprint(i)}
			_, err := n.Do(ctx, fns[chance(len(fns))], g)
			if err == nil && g.body != "hello" {
				err = fmt.Errorf("success with body %q", g.body)
			}
			results[i] = result{g.id, err}
		})
	}
	wg.Wait()
	return results
}

func checkAnswers(t *testing.T, answers []result, runs *sync.Map) {
	t.Helper()
	kinds := map[string]int{}
	for _, a := range answers {
		count := int32(0)
		if c, ok := runs.Load(a.id); ok {
			count = c.(*atomic.Int32).Load()
		}
		if count > 1 {
			t.Errorf("request %s ran %d times", a.id, count)
		}
		if a.err == nil && count != 1 {
			t.Errorf("request %s was answered but ran %d times", a.id, count)
		}
		kinds[kindOf(t, a.err)]++
	}
	t.Log(kinds)
	if kinds["ok"] == 0 || kinds["dead"] == 0 {
		t.Errorf("the test shows little: %v", kinds)
	}
}

func kindOf(t *testing.T, err error) string {
	t.Helper()
	var dead *DeadError
	var late *TimeoutError
	var rej *RejectError
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrClientGone):
		return "client gone"
	case errors.As(err, &dead):
		return "dead"
	case errors.As(err, &late):
		return "runtime limit"
	case errors.As(err, &rej) && (rej.Reason == engine.ReasonLambda || rej.Reason == engine.ReasonHost):
		return "start failed"
	case errors.Is(err, ErrQueueTimeout):
		return "queue timeout"
	}
	t.Errorf("unexpected answer: %v", err)
	return "?"
}
