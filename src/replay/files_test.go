package replay

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func measured() (Workload, []Sample) {
	const ms = time.Millisecond
	w := workload(0, 10*ms, 20*ms)
	w.Lambdas = append(w.Lambdas, Lambda{Name: "idle"})
	return w, []Sample{
		{Request: w.Requests[0], Start: "cold", Worker: "a", Status: 200, Connected: 2 * ms, Queue: 50 * ms, Init: 40 * ms, Exec: 250 * ms, Latency: 500 * ms},
		{Request: w.Requests[1], Start: "warm", Worker: "b", Status: 200, Exec: 250 * ms, Latency: 250 * ms},
		{Request: w.Requests[2], Err: errors.New("lost, \"really\""), Latency: 9 * ms},
	}
}

func TestWriteRequests(t *testing.T) {
	var out strings.Builder
	w, samples := measured()
	if err := WriteRequests(&out, w, samples); err != nil {
		t.Fatal(err)
	}
	want := `t_ms,function,asked_ms,late_ms,connected_ms,start,worker,queue_ms,init_ms,exec_ms,latency_ms,overhead_ms,slowdown,status,error
0.000,f00,250.000,0.000,2.000,cold,a,50.000,40.000,250.000,500.000,250.000,2,200,
10.000,f00,250.000,0.000,0.000,warm,b,0.000,0.000,250.000,250.000,0.000,1,200,
20.000,f00,250.000,0.000,0.000,,,0.000,0.000,0.000,9.000,9.000,0.036,0,"lost, ""really"""
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestFunctions(t *testing.T) {
	w, samples := measured()
	all := Functions(w, samples)
	want := []FunctionSummary{{
		Name: "f00", MemMB: 100, Requests: 3, Cold: 1, Warm: 1, Errors: 1, P50: 1, P99: 2,
		Latency: Distribution{2, 375 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, 500 * time.Millisecond},
	}}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	var out strings.Builder
	if err := WriteFunctions(&out, all); err != nil {
		t.Fatal(err)
	}
	if row := "f00,100,3,1,0,1,1,1,2,250.000,500.000\n"; !strings.HasSuffix(out.String(), row) {
		t.Errorf("got %s, want the row %s", out.String(), row)
	}
}

func TestWriteHistogram(t *testing.T) {
	var out strings.Builder
	_, samples := measured()
	if err := WriteHistogram(&out, samples); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Value", "Percentile", "Total count    =            2", "500."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
}

func TestMeasureSpread(t *testing.T) {
	_, samples := measured()
	got := MeasureSpread(samples, "a", "b", "c")
	want := Spread{Workers: map[string]int{"a": 1, "b": 1, "c": 0}, Cold: map[string]int{"a": 1}, MaxOfMean: 1.5}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := MaxOfMean(nil); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestUntilKeepsWhatIsCalled(t *testing.T) {
	w := Workload{
		Lambdas:  []Lambda{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Requests: []Request{{At: 0, Lambda: 2}, {At: 5, Lambda: 0}, {At: 6, Lambda: 2}, {At: 9, Lambda: 1}},
	}
	want := Workload{
		Lambdas:  []Lambda{{Name: "c"}, {Name: "a"}},
		Requests: []Request{{At: 0, Lambda: 0}, {At: 5, Lambda: 1}, {At: 6, Lambda: 0}},
	}
	if diff := cmp.Diff(want, w.Until(9)); diff != "" {
		t.Error(diff)
	}
}

func TestBodies(t *testing.T) {
	if got := Busy.event(1500 * time.Microsecond); got != `{"ms": 1.500, "busy": true}` {
		t.Error(got)
	}
}
