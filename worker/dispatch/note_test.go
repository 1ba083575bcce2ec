package dispatch

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/worker/events"
)

// Every request that readers were told of as running ends for them in the same sandbox,
// also when it is handed back because nothing of it could be sent; of others they are
// told neither.
func TestEventsOfRequestsThatAreHandedBack(t *testing.T) {
	for name, c := range map[string]struct {
		dead int // so many sandboxes, the first ones, cannot be reached
		want []string
	}{
		"none":  {0, []string{"run t-1", "done t-1"}},
		"once":  {1, []string{"run t-1", "done t-1", "run t-2", "done t-2"}},
		"twice": {2, []string{"run t-1", "done t-1", "run t-2", "done t-2", "run t-3", "done t-3"}},
		"for good": {attempts, []string{
			"run t-1", "done t-1", "run t-2", "done t-2", "run t-3", "done t-3", "run t-4", "done t-4",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &events.Log{}
				unreached := map[string]bool{}
				for i := range c.dead {
					unreached["t-"+string(rune('1'+i))] = true
				}
				n := newNode(t, hello, func(n *node, cfg *Config, _ *engine.Config) {
					cfg.Events = log
					n.provider.Dial = func(id string) error {
						if unreached[id] {
							return errors.New("connection refused")
						}
						return nil
					}
				})
				defer n.end()
				r := log.Read(100)
				defer r.Close()
				if _, _, err := n.call(n.define("f", 50, nil)); (err != nil) != (c.dead == attempts) {
					t.Error(err)
				}
				if diff := cmp.Diff(c.want, requestsOf(t, r)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A request that finds its client gone, or its sandbox dead, has not run.
func TestEventsOfRequestsThatDidNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &events.Log{}
		n := newNode(t, hello, func(_ *node, cfg *Config, _ *engine.Config) { cfg.Events = log })
		defer n.end()
		f := n.define("f", 50, nil)
		if _, _, err := n.call(f); err != nil { // unseen
			t.Fatal(err)
		}
		r := log.Read(100)
		defer r.Close()
		n.provider.Live()[0].Die("signal: killed")
		if _, _, err := n.call(f); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"run t-2", "done t-2"}, requestsOf(t, r)); diff != "" {
			t.Error(diff)
		}
	})
}

// requestsOf are the events of requests that a reader was told.
func requestsOf(t *testing.T, r *events.Reader) []string {
	t.Helper()
	synctest.Wait()
	batch, err := r.Next(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range batch {
		if e.Kind == api.EventRun || e.Kind == api.EventDone {
			got = append(got, e.Kind+" "+e.Sandbox)
		}
	}
	return got
}
