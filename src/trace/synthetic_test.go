package trace

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What the parameters state is what comes out.
func TestSyntheticIsAsStated(t *testing.T) {
	for _, name := range Generated() {
		t.Run(name, func(t *testing.T) {
			source, _, err := Named(name)
			if err != nil {
				t.Fatal(err)
			}
			s := *source.Synthetic
			w, err := s.Workload(1)
			if err != nil {
				t.Fatal(err)
			}
			functions, all, err := Collect(w)
			if err != nil {
				t.Fatal(err)
			}
			if len(all) != s.Requests || len(functions) != s.Functions {
				t.Fatalf("%d requests of %d functions", len(all), len(functions))
			}
			var exec, mb float64
			most := make([]int, s.Functions)
			for i, inv := range all {
				exec += inv.Exec.Seconds() / float64(len(all))
				mb += float64(functions[inv.Function].MB) / float64(len(all))
				most[inv.Function]++
				if inv.At < 0 || inv.At >= s.Span || inv.Exec < leastExec || inv.Exec > s.ExecCap {
					t.Fatalf("invocation %d: %+v", i, inv)
				}
			}
			if math.Abs(exec-0.190) > 0.0001 {
				t.Errorf("mean execution %v s", exec)
			}
			if math.Abs(mb-s.MemMB) > 1 {
				t.Errorf("mean memory %v MB, want %v", mb, s.MemMB)
			}
			if want := math.Pow(100, s.ZipfS); math.Abs(float64(most[0])/float64(most[99])-want) > 0.05*want {
				t.Errorf("rank 1 has %d requests, rank 100 %d", most[0], most[99])
			}
		})
	}
}

func TestSyntheticIsSeeded(t *testing.T) {
	s := AzureLike()
	s.Functions, s.Requests = 10, 1000
	read := func(seed uint64) []Invocation {
		w, err := s.Workload(seed)
		if err != nil {
			t.Fatal(err)
		}
		_, all, err := Collect(w)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if !cmp.Equal(read(1), read(1)) || cmp.Equal(read(1), read(2)) {
		t.Error("the seed is not what decides")
	}
}

func TestSyntheticRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Synthetic){
		"no functions":     func(s *Synthetic) { s.Functions = 0 },
		"few requests":     func(s *Synthetic) { s.Requests = 1 },
		"mean above cap":   func(s *Synthetic) { s.ExecMean = time.Second },
		"no burst":         func(s *Synthetic) { s.Burst = 0 },
		"share above one":  func(s *Synthetic) { s.Even = 1.5 },
		"no memory at all": func(s *Synthetic) { s.MemMB = 0 },
		"a gap of NaN":     func(s *Synthetic) { s.GapShape = math.NaN() },
		"infinite spread":  func(s *Synthetic) { s.ExecSigma = math.Inf(1) },
		"too many":         func(s *Synthetic) { s.Requests = 1e10 },
	} {
		s := AzureLike()
		spoil(&s)
		if _, err := s.Workload(1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Mean and variance of Gamma(k) are k.
func TestGamma(t *testing.T) {
	w := Synthetic{}
	for _, shape := range []float64{0.5, 2.88, 17.4} {
		g := generator{Synthetic: w, r: newDraw("gamma", 0, Options{Seed: 1}).random}
		const n = 200_000
		sum, squares := 0.0, 0.0
		for range n {
			v := g.gamma(shape)
			sum += v
			squares += v * v
		}
		mean := sum / n
		if v := squares/n - mean*mean; math.Abs(mean-shape) > 0.02*shape || math.Abs(v-shape) > 0.05*shape {
			t.Errorf("Gamma(%v): mean %v, variance %v", shape, mean, v)
		}
	}
}

// The shares of a workload are all of its requests, however uneven.
func TestSharesAddUp(t *testing.T) {
	for _, zipf := range []float64{0, 1.2, 5, 10} {
		g := generator{Synthetic: Synthetic{Functions: 2000, Requests: 9999, ZipfS: zipf}}
		sum := 0
		for i, n := range g.shares() {
			if n < 0 {
				t.Fatalf("rank^-%v: function %d has %d requests", zipf, i, n)
			}
			sum += n
		}
		if sum != 9999 {
			t.Errorf("rank^-%v: %d requests", zipf, sum)
		}
	}
}
