package sock

import (
	"context"
	"fmt"
	"log/slog"
	"sort"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/sock/cgroup"
)

func TestPhases(t *testing.T) {
	cfg := settings(t)
	cfg.Pool = 4
	cfg.Logger = slog.New(slog.DiscardHandler)
	p := newProvider(t, cfg)
	spec := code(t, "x", echo)
	names := []string{"prepare", "take", "limits", "send", "answer", "call", "total", "destroy"}
	all := map[string][]float64{}
	for i := range 60 {
		warm(t, p)
		time.Sleep(20 * time.Millisecond)
		spec.ID = fmt.Sprintf("x-%d", i)
		t0 := time.Now()
		start := t0
		mark := func(n string) {
			all[n] = append(all[n], float64(time.Since(t0).Microseconds()))
			t0 = time.Now()
		}
		mounts, err := codeMounts(spec)
		if err != nil {
			t.Fatal(err)
		}
		mark("prepare")
		c := p.pool.take()
		mark("take")
		c.group.SetLimits(cgroup.Limits{MemMB: spec.MemMB, CPUPercent: spec.CPUPercent, Procs: spec.Procs})
		mark("limits")
		c.control.send(message{Op: "start", Spec: childSpecOf(spec)}, mounts...)
		mounts.close()
		mark("send")
		m, err := c.answer(context.Background())
		if err != nil || m.Op != "ready" {
			t.Fatal(m, err)
		}
		c.control.close()
		mark("answer")
		s := p.keepSandbox(c, spec, 0)
		call(t, s, "{}")
		mark("call")
		all["total"] = append(all["total"], float64(time.Since(start).Microseconds()))
		t0 = time.Now()
		destroy(t, s)
		mark("destroy")
	}
	for _, n := range names {
		sort.Float64s(all[n])
		t.Logf("%8s p50 %6.0f us  p90 %6.0f", n, all[n][len(all[n])/2], all[n][len(all[n])*9/10])
	}
}
