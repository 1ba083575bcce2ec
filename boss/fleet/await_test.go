package fleet

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-lambda/open-lambda/policies/placement"
	"github.com/open-lambda/open-lambda/src/api"
)

// Whoever finds no worker waits for one that may be back in a moment, and for
// no other.
func TestAwaitAny(t *testing.T) {
	for _, tc := range []struct {
		name string
		fail func(s *Session, l *Lease)
		back bool // the worker comes back, after two seconds
		took time.Duration
	}{
		{"suspect, and reports", func(_ *Session, l *Lease) { l.Suspect(errors.New("no")) }, true, 2 * time.Second},
		{"lost for good", func(s *Session, _ *Lease) { s.Leave(errors.New("no")) }, false, api.LostAfter},
		{"drained", func(s *Session, _ *Lease) { s.Report(api.Report{Load: api.Load{Draining: true}}) }, false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				placer, err := placement.New("round-robin", 1)
				if err != nil {
					t.Fatal(err)
				}
				f, err := New(Config{Placer: placer})
				if err != nil {
					t.Fatal(err)
				}
				s := join(t, f, 1)[0]
				l, err := f.Acquire("fn")
				if err != nil {
					t.Fatal(err)
				}
				tc.fail(s, l)
				if tc.back {
					time.AfterFunc(2*time.Second, func() { s.Report(api.Report{Beat: true}) })
				}
				begun := time.Now()
				if got := f.AwaitAny(t.Context()); got != tc.back {
					t.Errorf("got %v", got)
				}
				if took := time.Since(begun); took != tc.took {
					t.Errorf("it took %v, not %v", took, tc.took)
				}
			})
		})
	}
}
