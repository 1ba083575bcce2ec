package dispatch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/worker/sandbox"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKindsOfStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, slow(30*time.Millisecond))
		defer n.end()
		f := n.define("f", 50, nil)
		g, body, err := n.call(f)
		if err != nil || body != "hello" || g.Start != policies.Cold || g.Queue != coldTime || g.Init != coldTime || g.Exec != 30*time.Millisecond {
			t.Errorf("first: %+v %q %v", g, body, err)
		}
		g, _, err = n.call(f)
		if err != nil || g.Start != policies.Warm || g.Queue != 0 || g.Init != 0 || g.Sandbox != "t-1" {
			t.Errorf("second: %+v %v", g, err)
		}
		grants, errs := n.burst(f, 2)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		kinds := map[policies.Kind]int{}
		for _, g := range grants {
			kinds[g.Start]++
		}
		if kinds[policies.Warm] != 1 || kinds[policies.Delayed] != 1 {
			t.Errorf("two at once on one sandbox, which is faster than a start: %v", kinds)
		}
	})
}

func TestFreezesAfterGraceOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, slow(time.Millisecond))
		defer n.end()
		f := n.define("f", 50, nil)
		for range 200 {
			if _, _, err := n.call(f); err != nil {
				t.Fatal(err)
			}
		}
		sb := n.provider.Live()[0]
		if _, times := sb.Frozen(); times != 0 {
			t.Errorf("frozen %d times between back-to-back calls", times)
		}
		time.Sleep(time.Second)
		if frozen, times := sb.Frozen(); !frozen || times != 1 {
			t.Errorf("idle for a second: frozen %v, %d times", frozen, times)
		}
		if g, body, err := n.call(f); err != nil || body != "hello" || g.Start != policies.Warm {
			t.Errorf("from frozen: %+v %q %v", g, body, err)
		}
	})
}

func TestDiesIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, hello)
		defer n.end()
		f := n.define("f", 50, nil)
		if _, _, err := n.call(f); err != nil {
			t.Fatal(err)
		}
		n.provider.Live()[0].Die("signal: killed")
		// Not yet noticed by the engine: the request is queued again.
		if g, body, err := n.call(f); err != nil || body != "hello" || g.Sandbox != "t-2" {
			t.Errorf("got %+v %q %v", g, body, err)
		}
		synctest.Wait()
		if live := n.provider.Live(); len(live) != 1 {
			t.Errorf("%d sandboxes live", len(live))
		}
	})
}

func TestDiesMidRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n *node
		n = newNode(t, func(_ http.ResponseWriter, r *http.Request) {
			n.provider.Live()[0].Die("out of memory")
			<-r.Context().Done()
		})
		defer n.end()
		f := n.define("f", 50, nil)
		g := &get{}
		_, err := n.Do(t.Context(), f, g)
		var dead *DeadError
		if !errors.As(err, &dead) || dead.Text != "out of memory" || g.sent != 1 {
			t.Errorf("got %v, sent %d times", err, g.sent)
		}
	})
}

// breaker is a request whose answer breaks off some time before its sandbox is
// known to be dead.
type breaker struct {
	get
	n     *node
	after time.Duration
}

func (b *breaker) Answer(*http.Response, *Grant) error {
	sb := b.n.provider.Live()[0]
	time.AfterFunc(b.after, func() { sb.Die("out of memory") })
	return io.ErrUnexpectedEOF
}

// A connection breaks before the death of its sandbox is noticed: on a busy
// machine seconds before.
func TestDeathIsNoticedLate(t *testing.T) {
	for after, want := range map[time.Duration]string{3 * time.Second: "out of memory", time.Minute: ""} {
		synctest.Test(t, func(t *testing.T) {
			n := newNode(t, hello)
			defer n.end()
			f := n.define("f", 50, nil)
			_, err := n.Do(t.Context(), f, &breaker{n: n, after: after})
			var dead *DeadError
			if !errors.As(err, &dead) || dead.Text != want {
				t.Errorf("noticed after %v: got %v", after, err)
			}
		})
	}
}

func TestRuntimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, slow(time.Hour))
		defer n.end()
		f := n.define("f", 50, func(r *Revision) { r.Runtime = 2 * time.Second })
		g, _, err := n.call(f)
		var late *TimeoutError
		if !errors.As(err, &late) || g.Exec != 2*time.Second {
			t.Errorf("got %v after %v", err, g.Exec)
		}
		synctest.Wait()
		if live := n.provider.Live(); len(live) != 0 {
			t.Errorf("%d sandboxes live", len(live))
		}
	})
}

func TestClientGone(t *testing.T) {
	for name, tt := range map[string]struct {
		after time.Duration
		stuck bool
		live  int
	}{
		"while waiting":          {10 * time.Millisecond, false, 1},
		"while running":          {coldTime + 10*time.Millisecond, false, 1},
		"while running, no ping": {coldTime + 10*time.Millisecond, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n *node
				n = newNode(t, func(w http.ResponseWriter, r *http.Request) {
					if tt.stuck {
						n.provider.Live()[0].Stick()
					}
					slow(time.Hour)(w, r)
				})
				defer n.end()
				f := n.define("f", 50, nil)
				ctx, cancel := context.WithTimeout(t.Context(), tt.after)
				defer cancel()
				if _, err := n.Do(ctx, f, &get{}); !errors.Is(err, ErrClientGone) {
					t.Errorf("got %v", err)
				}
				time.Sleep(time.Second)
				if live := n.provider.Live(); len(live) != tt.live {
					t.Errorf("%d sandboxes live, want %d", len(live), tt.live)
				}
			})
		})
	}
}

func TestWriteFailureKeepsSandbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, hello)
		defer n.end()
		f := n.define("f", 50, nil)
		if _, err := n.Do(t.Context(), f, &get{werr: ErrClientGone}); !errors.Is(err, ErrClientGone) {
			t.Errorf("got %v", err)
		}
		if g, _, err := n.call(f); err != nil || g.Sandbox != "t-1" {
			t.Errorf("got %+v %v", g, err)
		}
	})
}

func TestStartFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, hello)
		defer n.end()
		f := n.define("f", 50, nil)
		n.startErr = func(sandbox.Spec) error {
			return &sandbox.StartError{Lambda: true, Reason: "ImportError", Output: "no module x"}
		}
		_, errs := n.burst(f, 5)
		for _, err := range errs {
			var rej *RejectError
			if !errors.As(err, &rej) || rej.Reason != engine.ReasonLambda || rej.Start == nil || rej.Start.Output != "no module x" {
				t.Errorf("got %v", err)
			}
		}
		fails := 0
		n.startErr = func(sandbox.Spec) error {
			if fails++; fails < 3 {
				return errors.New("host is busy")
			}
			return nil
		}
		if _, body, err := n.call(f); err != nil || body != "hello" {
			t.Errorf("a host's fault is retried: %v", err)
		}
		n.startErr = func(sandbox.Spec) error { return errors.New("no cgroup") }
		g := n.define("g", 50, nil)
		var rej *RejectError
		if _, _, err := n.call(g); !errors.As(err, &rej) || rej.Reason != engine.ReasonHost || rej.Start == nil {
			t.Errorf("got %v", err)
		}
	})
}

func TestQueueLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, slow(time.Second), func(_ *node, c *Config, e *engine.Config) {
			c.Queue, e.QueueLimit, e.PoolMB = 1500*time.Millisecond, 3, 100
		})
		defer n.end()
		f := n.define("f", 100, nil)
		_, errs := n.burst(f, 5)
		var full, late, ok int
		for _, err := range errs {
			var rej *RejectError
			switch {
			case errors.As(err, &rej) && rej.Reason == engine.ReasonQueueFull:
				full++
			case errors.Is(err, ErrQueueTimeout):
				late++
			case err == nil:
				ok++
			}
		}
		if full != 2 || late != 1 || ok != 2 {
			t.Errorf("full %d, late %d, ok %d: %v", full, late, ok, errs)
		}
		big := n.define("big", 101, nil)
		var rej *RejectError
		if _, _, err := n.call(big); !errors.As(err, &rej) || rej.Reason != engine.ReasonTooLarge {
			t.Errorf("got %v", err)
		}
	})
}

func TestCannotBeSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, hello)
		defer n.end()
		f := n.define("f", 50, nil)
		var dead *DeadError
		for range 2 { // the fake dies between the check and the round trip
			g := &killer{n: n}
			if _, err := n.Do(t.Context(), f, g); !errors.As(err, &dead) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// killer kills its sandbox just before the request is sent, whenever asked.
type killer struct {
	get
	n *node
}

func (d *killer) Request(ctx context.Context, g *Grant) (*http.Request, bool) {
	for _, s := range d.n.provider.Live() {
		s.Die("exit code 1")
	}
	return d.get.Request(ctx, g)
}

func TestRevisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(10 * time.Millisecond)
			_, _ = w.Write([]byte(r.Header.Get("X-Rev")))
		})
		var held [3]int
		rev := func(i int) func(*Revision) {
			return func(r *Revision) {
				r.Spec.Dir = string(rune('0' + i))
				r.Retain = func() { held[i]++ }
				r.Release = func() { held[i]-- }
			}
		}
		f := n.define("f", 50, rev(1))
		if _, body, err := n.call(f); err != nil || body != "1" {
			t.Errorf("got %q %v", body, err)
		}
		r := &Revision{Spec: sandbox.Spec{Function: "f"}, Engine: policies.Spec{MB: 50, Slots: 1}}
		rev(2)(r)
		n.Define(f, r)
		if g, body, err := n.call(f); err != nil || body != "2" || g.Start != policies.Cold {
			t.Errorf("got %q %v", body, err)
		}
		synctest.Wait()
		if held[1] != 0 || held[2] != 2 {
			t.Errorf("references %v: the old code is still held, or the new one is not", held)
		}
		n.Forget(f)
		if _, _, err := n.call(f); !errors.Is(err, ErrUnknown) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if held[2] != 0 {
			t.Errorf("references %v after the function was forgotten", held)
		}
		n.end()
	})
}
