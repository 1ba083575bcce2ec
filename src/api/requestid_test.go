package api

import (
	"net/http/httptest"
	"testing"

	"github.com/google/uuid"
)

func TestRequestID(t *testing.T) {
	const given = "01a2297b-835e-70ae-9ace-49153b1467f2"
	for header, keep := range map[string]bool{given: true, "": false, "x": false, "{" + given + "}": false} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set(HeaderRequestID, header)
		id := RequestID(r)
		if (id == header) != keep {
			t.Errorf("%q gives %q", header, id)
		}
		if u, err := uuid.Parse(id); err != nil || u.Version() != 7 {
			t.Errorf("%q gives %q, no UUID version 7: %v", header, id, err)
		}
	}
}
