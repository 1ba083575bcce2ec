package repro

import (
	"math"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/src/sim/study"
)

func TestVerdicts(t *testing.T) {
	wide := study.Interval{Mean: 1, Half: 2, N: 3}
	at := func(mean float64) study.Interval { return study.Interval{Mean: mean, Half: 0.5, N: 3} }
	ordered := order("", "", "points", nil)
	share, difference := about("", "", 40, nil), apart("", "", 40, nil) // 30 to 50
	small := apart("", "", 3.6, nil)                                    // 0 to 8.6
	equal := within("", "", "points", 0, 1, nil)
	weak := within("", "", "points", 0, 1, nil)
	weak.caveat = "weak"
	const oneSeed = "undecided (one seed: no interval)"
	for _, c := range []struct {
		name  string
		claim Claim
		m     study.Interval
		want  Verdict
		why   string
	}{
		{"order holds", ordered, at(1), Pass, ""},
		{"order reversed", ordered, at(-1), Fail, "it is the other way round"},
		{"order undecided", ordered, wide, Fail, "undecided: the interval contains 0"},
		{"one seed decides no order", ordered, single(0.1), Fail, oneSeed},
		{"nor its reverse", ordered, single(-0.1), Fail, oneSeed},
		{"a recording does", ordered.from(recorded), single(0.1), Pass, ""},
		{"and its reverse", ordered.from(recorded), single(-0.1), Fail, "it is the other way round"},
		{"share within", share, at(30), Pass, ""},
		{"share too low", share, at(29.9), Fail, "less than tolerated"},
		{"share too high", share, at(50.1), Fail, "more than tolerated"},
		{"share of one seed", share, single(30), Pass, ""},
		{"share that may be nothing", about("", "", 6.2, nil), study.Interval{Mean: 5, Half: 5.1, N: 3}, Fail, "undecided: the interval contains 0"},
		{"difference within", difference, at(30), Pass, ""},
		{"difference too high", difference, at(50.1), Fail, "more than tolerated"},
		{"difference of one seed", difference, single(40), Fail, oneSeed},
		{"difference that may be none", small, study.Interval{Mean: 3.6, Half: 3.7, N: 3}, Fail, "undecided: the interval contains 0"},
		{"small difference that is there", small, at(0.6), Pass, ""},
		{"no difference", small, study.Interval{N: 3}, Fail, "undecided: the interval contains 0"},
		{"the other way round", small, at(-1), Fail, "less than tolerated"},
		{"no difference where none is claimed", equal, at(0.4), Pass, ""},
		{"perhaps one", equal, at(0.6), Fail, "undecided: the interval leaves what is tolerated"},
		{"one", equal, at(-1.1), Fail, "less than tolerated"},
		{"one seed says of none", equal, single(0), Fail, oneSeed},
		{"a caveat", weak, at(0.4), Pass, "weak"},
		{"no caveat beside a failure", weak, at(2), Fail, "more than tolerated"},
		{"nothing measured", share, single(math.NaN()), Fail, "nothing was measured"},
		{"fitted", ordered.using("azure-like", "lru", "faascache"), at(-1), Fitted, "the workload was calibrated to it"},
		{"partly fitted", ordered.using("azure-like", "lru", "ttl"), at(-1), Fail, "it is the other way round"},
		{"fitted elsewhere", ordered.using("s2-sigma1", "lru", "faascache"), at(1), Pass, ""},
		{"untestable", untestable("", "", "%", 1, "no data", nil), at(1), NotTestable, "no data"},
	} {
		if got, why := c.claim.decide(c.m); got != c.want || why != c.why {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got, why, c.want, c.why)
		}
	}
}

// What is tolerated is said as it is judged; five points or a quarter, nothing below 0
// and no share above 100 %.
func TestTolerance(t *testing.T) {
	interval := study.Interval{Mean: 1, Half: 1, N: 3}
	for _, c := range []struct {
		claim Claim
		m     study.Interval
		want  string
	}{
		{about("", "", 12.5, nil), interval, "7.5 to 17.5 %"},
		{about("", "", 75.1, nil), interval, "56.3 to 93.9 %"},
		{about("", "", 92.6, nil), single(1), "69.4 to 100 % (one seed: no interval)"},
		{about("", "", 40, nil).from(theData), single(1), "30.0 to 50.0 % (the data itself: no interval)"},
		{apart("", "", 3.6, nil), interval, "0.0 to 8.6 %, 95 % interval above 0"},
		{near("", "", "ms", 100, nil), interval, "75.0 to 125 ms"},
		{order("", "", "ms", nil), interval, "95 % interval above 0"},
		{order("", "", "ms", nil), single(1), "95 % interval above 0 (one seed: no interval)"},
		{order("", "", "ms", nil).from(recorded), single(1), "above 0 (one recording: no interval)"},
		{within("", "", "points", 0, 5, nil), interval, "95 % interval in -5.0 to 5.0 points"},
		{untestable("", "", "%", 1, "no data", nil), interval, "-"},
	} {
		if got := c.claim.tolerated(c.m); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Where a claim or a row says that no seed changes its value, none does: it is measured
// once.
func TestValuesWithoutSeeds(t *testing.T) {
	d := invented(Scene{Azure: "azure-like", FC: "fc-like-faascache", Seeds: Seeds(3)})
	all, err := Reproduce(Figures(), d)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, f := range Figures() {
		for _, c := range f.Claims(d.Scene) {
			if c.source == "" {
				continue
			}
			found[f.ID]++
			if one, other := c.Of(d, 1), c.Of(d, 2); math.Abs(one-other) > 1e-9*math.Abs(one) {
				t.Errorf("%s: %s is %v with one seed and %v with another", f.ID, c.Text, one, other)
			}
			if j := c.judge(f.ID, d); j.Measured.N != 1 || strings.Contains(j.Value, "±") {
				t.Errorf("%s: %s: %+v", f.ID, c.Text, j)
			}
		}
	}
	for _, v := range table1Values() {
		for _, w := range []string{"s1", "s2", "fc-like-faascache", "azure-like"} {
			if one, other := describeMeasure(w, v.of)(d, 1), describeMeasure(w, v.of)(d, 2); v.source(w) != "" && math.Abs(one-other) > 1e-9*one {
				t.Errorf("table1: %s of %s is %v with one seed and %v with another", v.name, w, one, other)
			}
		}
	}
	for _, o := range all {
		for _, table := range o.Tables {
			for _, r := range table.Rows {
				if r.Source != "" {
					found[o.ID+" rows"]++
				}
				if (r.Source == "") != (r.Ours.N == 3) && o.ID != "robustness" { // that counts cells
					t.Errorf("%s: %v has %d samples, from %q", o.ID, r.Key, r.Ours.N, r.Source)
				}
			}
		}
	}
	for _, id := range []string{"table1", "fig2", "fig3", "fig4"} {
		if found[id] == 0 || found[id+" rows"] == 0 {
			t.Errorf("%s: %d claims and %d rows without seeds", id, found[id], found[id+" rows"])
		}
	}
}

// Shares are counted, not read off a curve: a plateau that ends between two of its
// steps is not rounded down to one.
func TestSamples(t *testing.T) {
	var all []float64
	for i := range 1000 {
		all = append(all, float64(min(i/4*4, 411))) // 0, 0, 0, 0, 4, ... and 411 for the rest
	}
	s := newSamples(all)
	for v, want := range map[float64]float64{-1: 0, 0: 0.004, 3.9: 0.004, 4: 0.008, 408: 0.412, 411: 1, 500: 1} {
		if got := s.Share(v); got != want {
			t.Errorf("share of %v is %v, want %v", v, got, want)
		}
	}
	if s.n() != 1000 || s.At(0) != 0 || s.At(0.005) != 4 || s.At(1) != 411 {
		t.Errorf("%d samples from %v over %v to %v", s.n(), s.At(0), s.At(0.005), s.At(1))
	}
	if got := newSamples([]float64{1, 2, 2, 3}).distance(newSamples([]float64{2, 3, 3, 3})); got != 0.5 {
		t.Errorf("the distance is %v", got)
	}
	var none Samples
	if !math.IsNaN(none.Share(1)) || !math.IsNaN(none.At(0.5)) || none.Curve() != nil {
		t.Error("no samples have shares")
	}
}

// A seed without samples takes nothing from the mean of the others.
func TestMeanCurve(t *testing.T) {
	got := meanCurve([]Curve{nil, newCurve([]float64{2}), newCurve([]float64{4})})
	if len(got) != curveSteps+1 || got[0] != 3 || got[curveSteps] != 3 {
		t.Errorf("%v", got)
	}
	if meanCurve([]Curve{nil}) != nil {
		t.Error("nothing has a mean")
	}
}

func TestCurve(t *testing.T) {
	var samples []float64
	for i := 1000; i >= 0; i-- {
		samples = append(samples, float64(i))
	}
	c := newCurve(samples)
	for q, want := range map[float64]float64{0: 0, 0.25: 250, 0.5: 500, 1: 1000} {
		if got := c.At(q); got != want {
			t.Errorf("quantile %v is %v", q, got)
		}
	}
	if !math.IsNaN(Curve(nil).At(0.5)) || newCurve(nil) != nil {
		t.Error("no samples have quantiles")
	}
	// Waits spread over 0..1000 against a cold start that is always the same.
	for _, cold := range []float64{400, 402} { // on a step of the curve and between two
		constant := make(Curve, len(c))
		for i := range constant {
			constant[i] = cold
		}
		if at, share := crossing(c, constant); math.Abs(at-cold) > 1e-9 || math.Abs(share-cold/1000) > 1e-9 {
			t.Errorf("they cross at %v, %v", at, share)
		}
	}
	constant := newCurve([]float64{400, 400})
	if _, share := crossing(constant, newCurve([]float64{500, 600})); share != 1 {
		t.Errorf("the sooner one crosses at %v", share)
	}
}
