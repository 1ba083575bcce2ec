package invoke

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// Ids as requests have them.
const (
	first  = "01890a5d-ac96-774b-bcce-b302099a8057"
	second = "01890a5d-ac96-774b-bcce-b302099a8058"
)

// seen keeps what reaches the worker's server.
type seen struct{ requests []*http.Request }

func (s *seen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests = append(s.requests, r)
	w.WriteHeader(http.StatusNoContent)
}

func fromOutside(id string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/run/a", nil)
	r.Header.Set("Traceparent", "trace of "+id)
	return r
}

func call(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestWhatIsRefused(t *testing.T) {
	next := &seen{}
	d := NewDesk(next)
	h := d.Handler("s1", "a", []string{"b", "c.d"})
	end := d.Begin(t.Context(), "s1", first, fromOutside(first))
	defer end()
	tests := []struct {
		method, path string
		status       int
		reason       string
	}{
		{http.MethodPost, "/run/b", http.StatusNoContent, ""},
		{http.MethodPost, "/run/c.d/x/y?z=1", http.StatusNoContent, ""},
		{http.MethodGet, "/run/b", http.StatusMethodNotAllowed, "method-not-allowed"},
		{http.MethodPost, "/run/a", http.StatusForbidden, "call-not-listed"},
		{http.MethodPost, "/run/", http.StatusForbidden, "call-not-listed"},
		{http.MethodPost, "/run/b2", http.StatusForbidden, "call-not-listed"},
		{http.MethodPost, "/run/x/../b", http.StatusForbidden, "call-not-listed"},
		{http.MethodPost, "/registry/b", http.StatusNotFound, "no-route"},
		{http.MethodPost, "/debug", http.StatusNotFound, "no-route"},
		{http.MethodPost, "/", http.StatusNotFound, "no-route"},
	}
	for _, tt := range tests {
		w := call(h, tt.method, tt.path)
		var p api.Problem
		if tt.reason != "" {
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
				t.Errorf("%s %s: %v", tt.method, tt.path, err)
			}
		}
		if w.Code != tt.status || p.Reason != tt.reason {
			t.Errorf("%s %s: %d %q, want %d %q", tt.method, tt.path, w.Code, p.Reason, tt.status, tt.reason)
		}
	}
	if len(next.requests) != 2 {
		t.Errorf("%d calls came through", len(next.requests))
	}
}

func TestOnlyWhileARequestRuns(t *testing.T) {
	next := &seen{}
	d := NewDesk(next)
	h := d.Handler("s1", "a", []string{"b"})
	if w := call(h, http.MethodPost, "/run/b"); w.Code != http.StatusConflict {
		t.Errorf("before: %d", w.Code)
	}
	defer d.Begin(t.Context(), "s2", second, fromOutside(second))() // in another sandbox
	if w := call(h, http.MethodPost, "/run/b"); w.Code != http.StatusConflict {
		t.Errorf("while another sandbox has one: %d", w.Code)
	}
	end := d.Begin(t.Context(), "s1", first, fromOutside(first))
	if w := call(h, http.MethodPost, "/run/b"); w.Code != http.StatusNoContent {
		t.Errorf("during: %d", w.Code)
	}
	end()
	if w := call(h, http.MethodPost, "/run/b"); w.Code != http.StatusConflict {
		t.Errorf("after: %d", w.Code)
	}
	if len(d.ledger.sandboxes) != 1 {
		t.Errorf("the ledger keeps %v", d.ledger.sandboxes)
	}
}

func TestWhatIsPassedOn(t *testing.T) {
	next := &seen{}
	d := NewDesk(next)
	h := d.Handler("s1", "a", []string{"b"})
	defer d.Begin(t.Context(), "s1", first, fromOutside(first))()
	defer d.Begin(t.Context(), "s1", second, fromOutside(second))()
	call(h, http.MethodPost, "/run/b", api.HeaderToken, "stolen")
	call(h, http.MethodPost, "/run/b", api.HeaderRequestID, second, "Traceparent", "own")
	call(h, http.MethodPost, "/run/b", api.HeaderRequestID, "made up")
	for i, want := range [][2]string{{first, "trace of " + first}, {second, "own"}, {first, "trace of " + first}} {
		got := next.requests[i].Header
		if got.Get(api.HeaderRequestID) != want[0] || got.Get("Traceparent") != want[1] || got.Get(api.HeaderToken) != "" {
			t.Errorf("call %d has %v, want %v", i, got, want)
		}
	}
}

// A lambda cannot hide how deep it is: neither by leaving headers out nor by
// naming another request.
func TestLoopsEnd(t *testing.T) {
	depth := 0
	var d *Desk
	var last int
	again := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		depth++
		sandbox := string(rune('a' + depth))
		end := d.Begin(r.Context(), sandbox, r.Header.Get(api.HeaderRequestID), r)
		defer end()
		code := call(d.Handler(sandbox, "loop", []string{"loop"}), http.MethodPost, "/run/loop", api.HeaderRequestID, second).Code
		if code != http.StatusOK {
			last = code
		}
		w.WriteHeader(http.StatusOK)
	})
	d = NewDesk(again)
	end := d.Begin(t.Context(), "a", first, fromOutside(first))
	defer end()
	call(d.Handler("a", "loop", []string{"loop"}), http.MethodPost, "/run/loop")
	if depth != MaxDepth || last != http.StatusLoopDetected {
		t.Errorf("%d calls, the last refused with %d", depth, last)
	}
}

func TestDeepestIsAssumed(t *testing.T) {
	next := &seen{}
	d := NewDesk(next)
	deep := context.WithValue(t.Context(), depthKey{}, MaxDepth)
	defer d.Begin(t.Context(), "s1", first, fromOutside(first))()
	defer d.Begin(deep, "s1", second, fromOutside(second))()
	if w := call(d.Handler("s1", "a", []string{"b"}), http.MethodPost, "/run/b"); w.Code != http.StatusLoopDetected {
		t.Errorf("a call for nobody in particular gives %d", w.Code)
	}
	if w := call(d.Handler("s1", "a", []string{"b"}), http.MethodPost, "/run/b", api.HeaderRequestID, first); w.Code != http.StatusNoContent {
		t.Errorf("a call for the shallow request gives %d", w.Code)
	}
}

func TestCallEndsWithItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got error
		var within time.Duration
		d := NewDesk(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if deadline, ok := r.Context().Deadline(); ok {
				within = time.Until(deadline)
			}
			<-r.Context().Done()
			got = context.Cause(r.Context())
		}))
		h := d.Handler("s1", "a", []string{"b"})
		limit := errors.New("time limit")
		ctx, cut := context.WithCancelCause(t.Context())
		end := d.Begin(ctx, "s1", first, fromOutside(first))
		time.AfterFunc(time.Second, func() { cut(limit) })
		call(h, http.MethodPost, "/run/b")
		if !errors.Is(got, limit) {
			t.Errorf("it ended with %v", got)
		}
		end()
		soon, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		defer d.Begin(soon, "s1", first, fromOutside(first))()
		call(h, http.MethodPost, "/run/b")
		if within != 300*time.Millisecond {
			t.Errorf("it has %v", within)
		}
	})
}
