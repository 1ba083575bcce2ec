package offline_test

import (
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/offline"
)

// f0, used first, is called again soon; f1, used last, never: LRU would take f0's.
func TestBeladyIsNotLRU(t *testing.T) {
	s := &script{calls: []call{{0, 0, ms}, {sec, 1, ms}, {10 * sec, 2, ms}, {12 * sec, 0, ms}}}
	e, err := offline.NewBelady(s)
	if err != nil {
		t.Fatal(err)
	}
	got := s.play(t, engine.Config{PoolMB: 200, Scaler: coldstart.Scaler{}, Evictor: e}, 3)
	if !strings.Contains(got, "destroy s1: pressure") || !strings.Contains(got, "run r3 on s0 warm") {
		t.Errorf("f1's should have gone\n%s", got)
	}
}
