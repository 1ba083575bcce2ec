package repro

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Two sandboxes are busy until 100 and 60 when a third request arrives at 50:
// 10 would have been its wait. A request while nobody is busy is no case, nor is
// one that had no cold start.
func TestMissedWaits(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	calls := []call{
		{ms(500), ms(700), ms(800), true}, // nobody is busy
		{ms(0), ms(0), ms(100), false},
		{ms(20), ms(20), ms(60), false},
		{ms(50), ms(250), ms(300), true},
		{ms(270), ms(270), ms(280), false},
		{ms(100), ms(300), ms(310), true}, // the first has just come free
	}
	got := map[time.Duration]time.Duration{}
	each(calls, func(c *call, free time.Duration) { got[c.arrived] = free - c.arrived })
	if diff := cmp.Diff(map[time.Duration]time.Duration{ms(50): ms(10)}, got); diff != "" {
		t.Error(diff)
	}
}
