package trace

import (
	"math"
	"testing"
)

func TestDraws(t *testing.T) {
	known := map[Synthetic]bool{}
	for n := 1; n <= Draws; n++ {
		s, err := Draw(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.check(); err != nil {
			t.Errorf("draw %d: %v", n, err)
		}
		again, err := Draw(n)
		if err != nil || again != s || known[s] {
			t.Errorf("draw %d is not the same twice, or that of another number: %v", n, err)
		}
		known[s] = true
	}
	for _, n := range []int{0, -1, Draws + 1} {
		if _, err := Draw(n); err == nil {
			t.Errorf("draw %d exists", n)
		}
	}
}

func TestDrawByName(t *testing.T) {
	s, ok, err := Named("draw-2")
	if !ok || err != nil || s.Synthetic == nil {
		t.Errorf("draw-2: %v %v", ok, err)
	}
	if _, ok, err := Named("draw-100"); !ok || err == nil {
		t.Errorf("draw-100: known %v, error %v", ok, err)
	}
	if _, ok, err := Named("draw-x"); ok || err != nil {
		t.Errorf("draw-x: known %v, error %v", ok, err)
	}
}

// 600 requests a second for 0.2 s with 100 MB: 12,000 MB.
func TestBusyMB(t *testing.T) {
	s := Synthetic{Requests: 1_080_000, Span: 1800e9, ExecMean: 200e6, MemMB: 100}
	if got := s.BusyMB(); math.Abs(got-12_000) > 1e-6 {
		t.Errorf("got %v MB, want 12000", got)
	}
}
