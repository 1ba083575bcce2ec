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
		"azure-like:burst=-1":          "not a number that is at least 0",
		"azure-like:burst=0":           "more than 0",
		"azure-like:exec_mean_ms=9999": "must lie between",
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
