package trace

import (
	"strings"
	"testing"
	"time"
)

func TestVaried(t *testing.T) {
	base := AzureLike()
	s, known, err := Named("azure-like:burst=6.5,burst_width_ms=100,functions=220")
	if err != nil || !known {
		t.Fatal(known, err)
	}
	want := base
	want.Burst, want.BurstWidth, want.Functions = 6.5, 100*time.Millisecond, 220
	if *s.Synthetic != want {
		t.Errorf("got %+v", *s.Synthetic)
	}
	if s.Calibration != nil || !strings.Contains(s.Note, "fitted to nothing") {
		t.Errorf("it claims to be calibrated: %q", s.Note)
	}
	if AzureLike() != base {
		t.Error("the base was changed")
	}
}

func TestVariedRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"azure-like:bursts=6":          "there is no parameter \"bursts\", only functions, requests",
		"azure-like:burst":             "burst is \"\", not a number",
		"azure-like:burst=-1":          "burst is -1, not a number from 0.001 to",
		"azure-like:burst=0":           "burst is 0, not a number from 0.001 to",
		"azure-like:exec_mean_ms=9999": "must lie between",
		"azure-like:gap_shape=NaN":     "gap_shape is NaN, not a number from",
		"azure-like:exec_sigma=nan":    "exec_sigma is NaN, not a number from 0 to 4",
		"azure-like:mem_mb=Inf":        "mem_mb is +Inf, not a number from",
		"azure-like:zipf_s=-inf":       "zipf_s is -Inf, not a number from",
		"azure-like:requests=1e10":     "requests is 1e+10, not a number from 1 to 2e+07",
		"azure-like:functions=1e300":   "functions is 1e+300, not a number from 1 to 100000",
		"azure-like:span_ms=1e300":     "span_ms is 1e+300, not a number from",
		"azure-like:cold_sigma=9":      "cold_sigma is 9, not a number from 0 to 2",
		"azure-like:functions=1000000": "not a number from 1 to 100000",
		"azure-like:requests=100":      "100 requests are fewer than 330 functions",
	} {
		if _, _, err := Named(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"nothing:burst=6", "s1:burst=6", "./azure-like:burst=6"} {
		if _, known, err := Named(name); known || err != nil {
			t.Errorf("%s is known: %v", name, err)
		}
	}
}
