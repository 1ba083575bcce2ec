package trace

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const header = "id,mem_mb,d_p0,d_p1,d_p25,d_p50,d_p75,d_p99,d_p100,d_avg,m1,m2\n"

func TestReadNamesThePlace(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"empty":           {"", `t.csv:1:1: expected a header`},
		"other header":    {"id,memory\n", `t.csv:1:4: expected a column mem_mb, got "memory"`},
		"no minutes":      {strings.TrimSuffix(header, ",m1,m2\n") + "\n", `expected at least one column m1`},
		"minutes skipped": {strings.Replace(header, "m2", "m3", 1), `expected a column m2, got "m3"`},
		"letters":         {header + "f,x,0,0,0,0,0,0,0,0,1,2\n", `t.csv:2:3: expected a number of at least 0, got "x"`},
		"negative":        {header + "f,1,0,0,0,0,0,0,0,0,1,-2\n", `t.csv:2:23: expected a count of at least 0, got "-2"`},
		"not a number":    {header + "f,NaN,0,0,0,0,0,0,0,0,1,2\n", `t.csv:2:3: expected a number`},
		"fraction":        {header + "f,1,0,0,0,0,0,0,0,0,1.5,2\n", `t.csv:2:21: expected a count`},
		"falling":         {header + "f,1,5,4,6,6,6,6,6,6,1,2\n", `t.csv:2:7: expected at least the percentile before it, got "4"`},
		"short row":       {header + "f,1\n", `t.csv:2:1: expected 12 columns as in the header`},
		"no name":         {header + ",1,0,0,0,0,0,0,0,0,1,2\n", `t.csv:2:1: expected the function's name`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Read("t.csv", strings.NewReader(tt.in))
			var row *RowError
			if !errors.As(err, &row) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestExcerpt(t *testing.T) {
	functions, err := Excerpt()
	if err != nil {
		t.Fatal(err)
	}
	requests := 0
	for _, f := range functions {
		requests += f.Requests()
		if f.MemMB < 50 || len(f.PerMinute) != 30 {
			t.Errorf("%s: %v MB, %d minutes", f.ID, f.MemMB, len(f.PerMinute))
		}
	}
	if len(functions) != 12 || requests != 18365 {
		t.Errorf("%d functions, %d requests: data/PROVENANCE.md says otherwise", len(functions), requests)
	}
}

func TestPercentilesAt(t *testing.T) {
	p := Percentiles{0, 10, 20, 40, 80, 100, 1000}
	for u, want := range map[float64]time.Duration{-1: 0, 0: 0, 0.01: 10, 0.25: 20, 0.375: 30, 0.5: 40, 0.75: 80, 0.99: 100, 0.995: 550, 1: 1000, 2: 1000} {
		if got := p.At(u); got != want {
			t.Errorf("At(%v) = %d, want %d", u, got, want)
		}
	}
}

func TestPercentilesMeanAgreesWithSum(t *testing.T) {
	p := Percentiles{0, 1e6, 2e6, 4e6, 8e6, 10e6, 100e6}
	for _, limit := range []time.Duration{0, 5e6, 50e6, 1e9} {
		const n = 200_000
		sum := 0.0
		for i := range n {
			v := p.At((float64(i) + 0.5) / n)
			if limit > 0 {
				v = min(v, limit)
			}
			sum += float64(v) / n
		}
		if got := float64(p.Mean(limit)); math.Abs(got-sum) > sum/1000 {
			t.Errorf("Mean(%v) = %v, the sum says %v", limit, got, sum)
		}
	}
}

func two() []Function {
	exec := Percentiles{1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 900e6}
	return []Function{
		{ID: "a", MemMB: 10, Exec: exec, PerMinute: []int{100, 0, 7}},
		{ID: "b", MemMB: 20, Exec: exec, PerMinute: []int{1, 2, 3000}},
	}
}

func TestExpandKeepsEveryCount(t *testing.T) {
	for _, sigma := range []float64{0, 1, 2} {
		all, err := Expand(two(), Options{Sigma: sigma, Seed: 1, MaxExec: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		counts := map[[2]int]int{}
		for i, inv := range all {
			counts[[2]int{inv.Function, int(inv.At / time.Minute)}]++
			if i > 0 && inv.At < all[i-1].At {
				t.Fatalf("invocation %d is out of order", i)
			}
			if inv.Exec < time.Millisecond || inv.Exec > 10*time.Millisecond {
				t.Fatalf("execution of %v", inv.Exec)
			}
		}
		want := map[[2]int]int{{0, 0}: 100, {0, 2}: 7, {1, 0}: 1, {1, 1}: 2, {1, 2}: 3000}
		if diff := cmp.Diff(want, counts); diff != "" {
			t.Errorf("sigma %v: %s", sigma, diff)
		}
	}
}

func TestExpandIsDeterministicPerFunction(t *testing.T) {
	o := Options{Sigma: 1, Seed: 7}
	both, err := Expand(two(), o)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Expand(two()[1:], o)
	if err != nil {
		t.Fatal(err)
	}
	var second []Invocation
	for _, inv := range both {
		if inv.Function == 1 {
			inv.Function = 0
			second = append(second, inv)
		}
	}
	if diff := cmp.Diff(alone, second); diff != "" {
		t.Errorf("draws depend on the other function: %s", diff)
	}
	o.Seed++
	other, err := Expand(two(), o)
	if err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(both, other) {
		t.Error("the seed changes nothing")
	}
}

// More unevenness gathers the same invocations in fewer seconds.
func TestSigmaGathers(t *testing.T) {
	busiest := func(sigma float64) int {
		all, err := Expand(two()[1:], Options{First: 2, Minutes: 1, Sigma: sigma, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		var perSecond [60]int
		most := 0
		for _, inv := range all {
			perSecond[inv.At/time.Second]++
			most = max(most, perSecond[inv.At/time.Second])
		}
		return most
	}
	// 50 a second on average.
	if even, uneven := busiest(0), busiest(2); even > 90 || uneven < 200 {
		t.Errorf("busiest second: %d even, %d uneven", even, uneven)
	}
}

func TestExpandRefusesMissingMinutes(t *testing.T) {
	for _, o := range []Options{{First: 3}, {First: -1}, {Minutes: 4}, {First: 1, Minutes: 3}, {Minutes: -1}} {
		if _, err := Expand(two(), o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
