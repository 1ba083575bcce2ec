package worker

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
)

// Whoever reads /events sees a sandbox' whole life, in order; nobody reading
// is no reason to wait.
func TestEvents(t *testing.T) {
	n := newNode(t, lambdas{"echo": echo}, nil, func(s *config.Config) { s.FreezeGraceMS = 10 })
	n.expect(n.do("POST", "/run/echo", nil), 200, "") // unseen
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.url+api.PathEvents, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := n.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	n.expect(n.do("DELETE", "/registry/echo", nil), 200, "")
	var kinds []string
	var last api.Event
	for dec := json.NewDecoder(resp.Body); last.Kind != api.EventGone; kinds = append(kinds, last.Kind) {
		last = api.Event{}
		if err := dec.Decode(&last); err != nil {
			t.Fatalf("%v after %v", err, kinds)
		}
		if last.Function != "echo" || last.Sandbox == "" || time.Since(time.Unix(0, last.At)) > time.Minute {
			t.Errorf("%+v", last)
		}
		if last.Kind == api.EventDestroy && last.Reason != "forgotten" {
			t.Errorf("destroyed: %q", last.Reason)
		}
	}
	if kinds[0] == api.EventFreeze { // if it was not frozen before we looked
		kinds = kinds[1:]
	}
	if diff := cmp.Diff([]string{api.EventDestroy, api.EventGone}, kinds); diff != "" {
		t.Error(diff)
	}
}

// A sandbox that is made while somebody reads.
func TestEventsOfAStart(t *testing.T) {
	n := newNode(t, lambdas{"echo": echo}, nil, func(s *config.Config) { s.FreezeGraceMS = -1 })
	r := n.events.Read(100)
	defer r.Close()
	n.expect(n.do("POST", "/run/echo", nil), 200, "")
	var got []string
	for len(got) < 4 {
		batch, err := r.Next(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			got = append(got, e.Kind+" "+e.Start)
		}
	}
	if diff := cmp.Diff([]string{"start ", "ready ", "run cold", "done "}, got); diff != "" {
		t.Error(diff)
	}
}
