package registry_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/open-lambda/open-lambda/boss/registry"
	"github.com/open-lambda/open-lambda/boss/registry/memory"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
)

// A boss that has not read its store since it started does not say that a lambda
// is not there: workers would take its word and throw the code away.
func TestUnreadIsNotAbsent(t *testing.T) {
	s := memory.New()
	r, err := registry.New(registry.Config{Meta: s, Code: s.Code(), Scratch: t.TempDir(), Limits: archive.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ method, path string }{
		{http.MethodGet, "/registry/x"},
		{http.MethodHead, "/registry/x"},
		{http.MethodGet, "/registry/x/config"},
		{http.MethodGet, "/registry/"},
		{http.MethodDelete, "/registry/x"},
	} {
		w := call(r, tc.method, tc.path, nil)
		var p api.Problem
		if w.Code != 503 || json.Unmarshal(w.Body.Bytes(), &p) != nil || p.Reason != "registry-unavailable" {
			t.Errorf("%s %s: got %d %s", tc.method, tc.path, w.Code, w.Body)
		}
	}
}
