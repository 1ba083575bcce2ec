package stats

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

func TestColdCost(t *testing.T) {
	var c ColdCost
	f := &policies.Func{Spec: policies.Spec{MB: 100}}
	if got := c.Millis(f, DefaultColdPerMB); got != 170 {
		t.Errorf("by memory %v, want 170", got)
	}
	f.ColdNow = 80 * time.Millisecond
	if got := c.Millis(f, DefaultColdPerMB); got != 80 {
		t.Errorf("by estimate %v, want 80", got)
	}
	for _, ready := range []time.Duration{100, 200} {
		c.Add(&policies.Sandbox{StartedAt: 1, ReadyAt: policies.Time(1).Add(ready * time.Millisecond)})
	}
	if got := c.Millis(f, DefaultColdPerMB); got != 150 {
		t.Errorf("by starts %v, want 150", got)
	}
}
