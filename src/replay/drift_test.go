package replay

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// late makes a workload of n requests, one every gap, and samples that were
// sent so late.
func late(n int, gap time.Duration, by func(i int) time.Duration) (Workload, []Sample) {
	var at []time.Duration
	for i := range n {
		at = append(at, time.Duration(i)*gap)
	}
	w := workload(at...)
	samples := make([]Sample, n)
	for i := range samples {
		samples[i] = Sample{Request: w.Requests[i], Late: by(i)}
	}
	return w, samples
}

func TestMeasureDrift(t *testing.T) {
	ms := time.Millisecond
	tests := map[string]struct {
		n          int
		gap        time.Duration
		by         func(i int) time.Duration
		worst, all float64
		at, window time.Duration
	}{
		"in time":         {1000, 10 * ms, func(int) time.Duration { return 0 }, 0, 0, 0, time.Second},
		"a little late":   {1000, 10 * ms, func(int) time.Duration { return 5 * ms }, 0, 0, 0, time.Second},
		"a tenth behind":  {1000, 10 * ms, func(int) time.Duration { return 100 * ms }, 0.10, 0.10, 0, time.Second},
		"one second lost": {1000, 10 * ms, lostIn(500, 600), 1, 0.10, 5 * time.Second, time.Second},
		"slow workload":   {1000, 100 * ms, func(int) time.Duration { return time.Second }, 0.10, 0.10, 89910 * ms, 9990 * ms},
		"few requests":    {10, time.Second, func(int) time.Duration { return time.Minute }, 0, 0, 0, 90 * time.Second},
		"none":            {0, time.Second, nil, 0, 0, 0, time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := MeasureDrift(late(tt.n, tt.gap, tt.by))
			if !near(d.Worst, tt.worst) || !near(d.All, tt.all) || d.At != tt.at || d.Window != tt.window || d.Late.N != tt.n {
				t.Errorf("%+v", d)
			}
		})
	}
}

func near(a, b float64) bool { return a-b < 0.01 && b-a < 0.01 }

// lostIn delays some requests to the next second.
func lostIn(from, to int) func(int) time.Duration {
	return func(i int) time.Duration {
		if i >= from && i < to {
			return time.Second
		}
		return 0
	}
}

// A request that was never sent is in no figure.
func TestDriftLeavesOutWhatWasNotSent(t *testing.T) {
	w, samples := late(10, time.Second, func(int) time.Duration { return 0 })
	for i := 5; i < 10; i++ {
		samples[i].Err = ErrNotSent
	}
	if d := MeasureDrift(w, samples); d.Late.N != 5 {
		t.Errorf("%+v", d)
	}
}

// A cluster that goes away ends the replay, with what was measured.
func TestRunGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		server := serverFunc(func(*http.Request) (*http.Response, error) {
			if time.Since(begin) < 5*time.Second {
				return answer(200, "warm", "", "{}"), nil
			}
			return nil, errors.New("connection refused")
		})
		r := &Replayer{URL: "http://worker", Client: &http.Client{Transport: server}, GiveUp: 3 * time.Second}
		samples, err := r.Run(t.Context(), workload(crowd(1000)...))
		if !errors.Is(err, ErrGone) || len(samples) != 1000 {
			t.Fatalf("%d samples, %v", len(samples), err)
		}
		counts := map[string]int{}
		for i := range samples {
			switch s := &samples[i]; {
			case s.Err == nil:
				counts["good"]++
			case s.Sent():
				counts["failed"]++
			default:
				counts["not sent"]++
			}
		}
		if counts["good"] != 50 || counts["failed"] != 30 || counts["not sent"] != 920 {
			t.Errorf("%v", counts)
		}
	})
}

// One failure after a long silence is no reason to give up.
func TestRunGoesOnAfterQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serverFunc(func(*http.Request) (*http.Response, error) { return nil, errors.New("reset") })
		r := &Replayer{URL: "http://worker", Client: &http.Client{Transport: server}, GiveUp: time.Second}
		if _, err := r.Run(t.Context(), workload(0, time.Minute, 2*time.Minute)); err != nil {
			t.Error(err)
		}
	})
}

func TestDriftErrorSaysWhen(t *testing.T) {
	err := (&DriftError{Drift{Worst: 0.31, At: 12 * time.Second, Window: time.Second}}).Error()
	if want := "31 % of the requests of the 1 s from 12 s on"; !strings.Contains(err, want) {
		t.Errorf("%q lacks %q", err, want)
	}
}
