package dispatch

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// Functions that come and go for good share ids, so that the engine's tables do
// not grow with them. Weeks of it hold every invariant, under every preset.
func TestRetiredFunctionsMakeRoom(t *testing.T) {
	for _, preset := range []string{"cidre", "cidre-bss", "cidre+", "ttl", "lru", "faascache"} {
		t.Run(preset, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { comeAndGo(t, preset) })
		})
	}
}

func comeAndGo(t *testing.T, preset string) {
	n := newNode(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Header.Get("X-Rev"))) },
		func(_ *node, _ *Config, ec *engine.Config) {
			p, err := catalog.New(preset, "", "", catalog.Params{})
			if err != nil {
				t.Fatal(err)
			}
			ec.Scaler, ec.Evictor, ec.Picker, ec.Prewarmer = p.Scaler, p.Evictor, p.Picker, p.Prewarmer
		})
	for i := range 500 {
		name := fmt.Sprint("f", i)
		f := n.define(name, int64(50+i%7*10), func(r *Revision) { r.Spec.Dir = name })
		for range 1 + i%3 {
			if _, body, err := n.call(f); err != nil || body != name {
				t.Fatalf("%s answers %q, %v", name, body, err)
			}
		}
		n.Forget(f)
		n.Retire(f)
		time.Sleep(10 * time.Minute)
		n.Locked(func() {
			if err := n.eng.Check(); err != nil {
				t.Fatalf("after %s: %v", name, err)
			}
		})
	}
	if len(n.funcs) > 3 {
		t.Errorf("the engine knows %d functions", len(n.funcs))
	}
	n.end()
}

// The id of a function passes to another only when nothing of it is left.
func TestRetiredFunctionThatStillRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			_, _ = w.Write([]byte(r.Header.Get("X-Rev")))
		})
		old := n.define("old", 50, func(r *Revision) { r.Spec.Dir = "old" })
		done := make(chan string, 1)
		go func() {
			_, body, _ := n.call(old)
			done <- body
		}()
		time.Sleep(2 * coldTime)
		n.Forget(old)
		n.Retire(old)
		id := old.id
		if next := n.define("next", 50, nil); next.id == id {
			t.Error("the id has passed on while a request runs")
		}
		if body := <-done; body != "old" {
			t.Errorf("the request that ran got %q", body)
		}
		synctest.Wait()
		if third := n.define("third", 50, nil); third.id != id || old.id != policies.NoFunc {
			t.Errorf("ids are %d and %d, want %d to pass on", third.id, old.id, id)
		}
		if _, _, err := n.call(old); !errors.Is(err, ErrUnknown) {
			t.Errorf("the retired function gives %v", err)
		}
		n.end()
	})
}
