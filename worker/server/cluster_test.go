package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/open-lambda/open-lambda/src/api"
)

func TestGuard(t *testing.T) {
	h := Guard("secret", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	for _, tc := range []struct {
		from, path, header, value string
		want                      int
	}{
		{"127.0.0.1:1", "/run/f", "", "", 204},
		{"[::1]:1", "/run/f", "", "", 204},
		{"10.0.0.1:1", "/run/f", "", "", 401},
		{"10.0.0.1:1", api.PathStatus, "", "", 204},
		{"10.0.0.1:1", "/run/f", api.HeaderToken, "wrong", 401},
		{"10.0.0.1:1", "/run/f", api.HeaderToken, "secret", 204},
		{"10.0.0.1:1", "/run/f", "Authorization", "Bearer secret", 204},
		{"nonsense", "/run/f", "", "", 401},
	} {
		r := httptest.NewRequest(http.MethodGet, tc.path, nil)
		r.RemoteAddr = tc.from
		if tc.header != "" {
			r.Header.Set(tc.header, tc.value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tc.want {
			t.Errorf("%+v: got %d", tc, w.Code)
		}
	}
}

// The cluster's token never reaches a lambda, and a lambda cannot claim that it
// was not started.
func TestHeadersOfTheClusterStayInIt(t *testing.T) {
	in := httptest.NewRequest(http.MethodGet, "/run/f", nil)
	in.Header.Set(api.HeaderToken, "secret")
	if h := forward(in, "id"); h.Get(api.HeaderToken) != "" {
		t.Error("the lambda sees the token")
	}
	out := http.Header{}
	answerHeader(out, http.Header{api.HeaderNotStarted: {"true"}, "X-Other": {"1"}})
	if out.Get(api.HeaderNotStarted) != "" || out.Get("X-Other") != "1" {
		t.Errorf("got %v", out)
	}
}

func TestLimited(t *testing.T) {
	for text, want := range map[string]bool{"": true, "5": true, "9223372036854775807": true, "0": false, "-1": false, "soon": false} {
		in := httptest.NewRequest(http.MethodGet, "/run/f", nil)
		if text != "" {
			in.Header.Set(api.HeaderTimeout, text)
		}
		r, cancel, err := limited(in)
		if (err == nil) != want {
			t.Errorf("%q: got %v", text, err)
		}
		if text == "5" {
			<-r.Context().Done()
			if cause := context.Cause(r.Context()); !errors.Is(cause, errDeadline) || problem(cause).Status != http.StatusGatewayTimeout {
				t.Errorf("got %v", cause)
			}
		}
		if err != nil && problem(err).Status != http.StatusBadRequest {
			t.Errorf("%q: got %d", text, problem(err).Status)
		}
		cancel()
	}
}
