package metrics

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/src/api"
)

func TestPrometheusText(t *testing.T) {
	m := New("cidre", func() Node {
		return Node{
			Sandboxes: map[string]int{"idle": 2}, Bytes: map[string]int64{"used": 100},
			Toggles: map[string]int64{"wait": 1}, InFlight: 3,
		}
	})
	f := m.Function("echo")
	f.Answered(Outcome(policies.Cold), 200, time.Millisecond, 2*time.Millisecond)
	f.Answered(Outcome(policies.Cold), 200, time.Millisecond, 2*time.Millisecond)
	f.Answered(NoStart, 429, 0, 0)
	m.Started("pool", 4*time.Millisecond)
	m.StartFailed("lambda")
	m.Evicted("pressure")
	if m.Function("echo") != f {
		t.Error("a function has two counters")
	}
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`ol_invocations_total{code="200",function="echo",start="cold"} 2`,
		`ol_invocations_total{code="429",function="echo",start="none"} 1`,
		`ol_queue_seconds_count{start="cold"} 2`,
		`ol_exec_seconds_count{function="echo"} 2`,
		`ol_init_seconds_count{origin="pool"} 1`,
		`ol_start_failures_total{fault="lambda"} 1`,
		`ol_evictions_total{policy="cidre",reason="pressure"} 1`,
		`ol_sandboxes{state="idle"} 2`,
		`ol_memory_bytes{kind="used"} 100`,
		`ol_css_toggles_total{to="wait"} 1`,
		`ol_in_flight 3`,
	} {
		if !strings.Contains(w.Body.String(), want+"\n") {
			t.Errorf("no %s", want)
		}
	}
}

func TestAnsweredAllocatesNothing(t *testing.T) {
	f := New("x", func() Node { return Node{} }).Function("echo")
	f.Answered(Outcome(policies.Warm), 200, 1, 1)
	n := testing.AllocsPerRun(100, func() { f.Answered(Outcome(policies.Warm), 200, 1, 1) })
	if n > 1 { // the key of sync.Map
		t.Errorf("%v allocations", n)
	}
}

func TestTally(t *testing.T) {
	tl := NewTally()
	tl.Count("a").Add(time.Millisecond)
	tl.Count("a").Add(3 * time.Millisecond)
	tl.Count("b")
	s := api.Stats{}
	tl.Stats(s)
	if d := cmp.Diff(api.Stats{"a.cnt": 2, "a.ms-avg": 2, "b.cnt": 0}, s); d != "" {
		t.Error(d)
	}
}
