package fleet

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies/placement"
	"github.com/open-lambda/open-lambda/src/api"
)

// A clock that is set back or forward by minutes while workers are there loses
// none of them and forgets none: a fleet goes by connections.
func TestClockIsSet(t *testing.T) {
	placer, err := placement.New("round-robin", 1)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_000_000, 0)
	f, err := New(Config{Placer: placer, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	sessions := join(t, f, 3)
	for _, jump := range []time.Duration{-7 * time.Minute, 13 * time.Minute, -time.Hour, 24 * time.Hour} {
		now = now.Add(jump)
		for _, s := range sessions {
			if !s.Report(api.Report{Beat: true}) {
				t.Fatalf("after %v a worker was cut off", jump)
			}
		}
		for range 6 {
			l, err := f.Acquire("fn")
			if err != nil {
				t.Fatalf("after %v: %v", jump, err)
			}
			l.Done()
		}
		if n := len(f.Nodes()); n != 3 || f.Up() != 3 {
			t.Errorf("after %v %d workers are known, %d up", jump, n, f.Up())
		}
	}
}
