package icebreaker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/icebreaker"
)

// Three calls at once in every fifth minute: once the rhythm is known, the
// sandboxes are there before them.
func TestLearnsARhythm(t *testing.T) {
	p, err := icebreaker.New(icebreaker.Default())
	if err != nil {
		t.Fatal(err)
	}
	h := enginetest.New(t, engine.Config{PoolMB: 1000, Scaler: coldstart.Scaler{}, Evictor: p, Prewarmer: p},
		enginetest.Fn{Spec: policies.Spec{MB: 100, Slots: 1, ColdEst: time.Second}, Cold: time.Second})
	for i := range 24 {
		for range 3 {
			h.Arrive(time.Duration(i)*5*time.Minute+30*time.Second, 0, time.Second)
		}
	}
	h.Run(2 * time.Hour)
	for i, r := range h.Results[60:] {
		if r.Kind != policies.Warm {
			t.Errorf("request %d after 100 minutes is %v", 60+i, r.Kind)
		}
	}
	if !strings.Contains(h.Transcript(), "expired") {
		t.Error("nothing was given up in the quiet minutes")
	}
}

func TestValidate(t *testing.T) {
	for _, cfg := range []icebreaker.Config{
		{History: 3, Harmonics: 1},
		{History: 9999, Harmonics: 1},
		{History: 10, Harmonics: -1},
		{History: 10, Threshold: 2},
	} {
		if _, err := icebreaker.New(cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}
