package api

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestProblemForms(t *testing.T) {
	p := NewProblem(429, "queue-full", "the queue of echo is full")
	p.RetryAfter = 1200 * time.Millisecond
	p.Output = "last line\n"
	for _, accept := range []string{"", "*/*", "application/json", "application/problem+json, text/plain"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", accept)
		p.Write(w, r)
		if w.Code != 429 || w.Header().Get("Retry-After") != "2" || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%q: %d %v", accept, w.Code, w.Header())
		}
		var got Problem
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(*p, got, cmpopts.IgnoreFields(Problem{}, "RetryAfter")); d != "" {
			t.Error(d)
		}
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept", "text/plain")
	p.Write(w, r)
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") || w.Body.String() != "the queue of echo is full\n\nlast line\n" {
		t.Errorf("got %v %q", w.Header(), w.Body)
	}
}

func TestWantsText(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "text/plain": true, "TEXT/plain;q=0.5": true, "text/*, */*": true,
		"application/json, text/plain": false, "text/html, text/plain": true,
	} {
		if got := WantsText(accept); got != want {
			t.Errorf("%q: got %v", accept, got)
		}
	}
}
