package boss_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
)

func reason(t *testing.T, body []byte) string {
	t.Helper()
	var p api.Problem
	if err := json.Unmarshal(body, &p); err != nil {
		t.Errorf("%q is no problem: %v", body, err)
	}
	return p.Reason
}

func TestBadRequests(t *testing.T) {
	b := startBoss(t, boss.Config{MaxBody: 1000})
	for _, tc := range []struct {
		name, path, body string
		header           http.Header
		status           int
		reason           string
	}{
		{"no worker", "/run/echo", "", nil, 503, "no-worker"},
		{"bad name", "/run/a%20b", "", nil, 400, "bad-name"},
		{"no name", "/run/", "", nil, 400, "bad-name"},
		{"large body", "/run/echo", strings.Repeat("x", 1001), nil, 413, "body-too-large"},
		{"bad timeout", "/run/echo", "", http.Header{api.HeaderTimeout: {"soon"}}, 400, "bad-timeout"},
		{"nothing there", "/nothing", "", nil, 404, "no-route"},
		{"no upgrade", api.PathJoin, "{}", nil, 400, "bad-join"},
		{"other version", api.PathJoin, `{"link":99}`, http.Header{"Upgrade": {api.UpgradeLink}, "Connection": {"Upgrade"}}, 409, "other-version"},
		{"bad address", api.PathJoin, `{"link":1,"url":"x"}`, http.Header{"Upgrade": {api.UpgradeLink}, "Connection": {"Upgrade"}}, 400, "bad-join"},
		{"unknown worker", api.PathNodes + "/nobody/drain", "", nil, 404, "unknown-worker"},
		{"no platform", api.PathScaling, "3", nil, 501, "no-platform"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp, body := get(t, http.MethodPost, b.url+tc.path, strings.NewReader(tc.body), tc.header)
			if got := reason(t, body); resp.StatusCode != tc.status || got != tc.reason {
				t.Errorf("got %d %q, want %d %q: %s", resp.StatusCode, got, tc.status, tc.reason, body)
			}
		})
	}
}

func TestToken(t *testing.T) {
	b := startBoss(t, boss.Config{Token: "secret"})
	for _, path := range []string{api.PathJoin, api.PathNodes + "/w/drain", api.PathScaling, api.PathShutdown} {
		for _, header := range []http.Header{nil, {"Authorization": {"Bearer wrong"}}} {
			if resp, body := get(t, http.MethodPost, b.url+path, nil, header); resp.StatusCode != 401 {
				t.Errorf("%s: %s: %s", path, resp.Status, body)
			}
		}
	}
	startWorkers(t, 1, emulate.Config{Token: "secret"}, b)
}

func TestNameTaken(t *testing.T) {
	b := startBoss(t, boss.Config{})
	startWorkers(t, 1, emulate.Config{}, b)
	other, err := emulate.Start(emulate.Config{Name: "w0", Bosses: []string{b.url}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Kill()
	hello := `{"link":1,"name":"w0","instance":"other","url":"` + other.URL() + `"}`
	resp, body := get(t, http.MethodPost, b.url+api.PathJoin, strings.NewReader(hello), http.Header{"Upgrade": {api.UpgradeLink}, "Connection": {"Upgrade"}})
	if resp.StatusCode != 409 || reason(t, body) != "name-taken" {
		t.Errorf("got %s: %s", resp.Status, body)
	}
}

// A request that was not started goes elsewhere, with its body.
func TestRetryOfWhatWasNotStarted(t *testing.T) {
	b := startBoss(t, boss.Config{Placer: "round-robin"})
	workers := startWorkers(t, 3, emulate.Config{Record: true}, b)
	workers[0].Misbehave(emulate.Refuse)
	workers[1].Misbehave(emulate.Refuse)
	for _, size := range []int{0, 10, 60 << 10} {
		sent := bytes.Repeat([]byte("x"), size)
		for range 3 {
			// A body of unknown length is kept as well.
			resp, body := get(t, http.MethodPost, b.url+"/run/echo", io.MultiReader(bytes.NewReader(sent)), nil)
			if resp.StatusCode != 200 || !bytes.Equal(body, sent) || resp.Header.Get(api.HeaderWorker) != "w2" {
				t.Errorf("%d bytes: got %s with %d bytes from %s", size, resp.Status, len(body), resp.Header.Get(api.HeaderWorker))
			}
		}
	}
	workers[2].Misbehave(emulate.Refuse)
	resp, body := get(t, http.MethodPost, b.url+"/run/echo", nil, nil)
	if resp.StatusCode != 503 || reason(t, body) != "no-capacity" || resp.Header.Get("Retry-After") == "" && resp.Header.Get(api.HeaderNotStarted) == "" {
		t.Errorf("got %s: %s", resp.Status, body)
	}
}

// What may have run is not sent again, whatever the method.
func TestNoRetryOfWhatMayHaveRun(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodHead, http.MethodDelete} {
		t.Run(method, func(t *testing.T) {
			b := startBoss(t, boss.Config{})
			workers := startWorkers(t, 2, emulate.Config{Record: true}, b)
			c := client(t)
			y := &tally{status: map[string]int{}, codes: map[int]int{}}
			for range 4 { // connections to be used again
				y.one(c, b.url, "echo")
			}
			for _, w := range workers {
				w.Misbehave(emulate.BreakHead)
			}
			before := len(ran(workers))
			resp, _ := get(t, method, b.url+"/run/echo", nil, nil)
			if resp.StatusCode != 502 {
				t.Errorf("got %s", resp.Status)
			}
			if after := len(ran(workers)); after != before+1 {
				t.Errorf("it ran %d times", after-before)
			}
			honest(t, y, ran(workers))
		})
	}
}

// An answer that breaks off is never taken for whole.
func TestBrokenAnswer(t *testing.T) {
	b := startBoss(t, boss.Config{})
	workers := startWorkers(t, 1, emulate.Config{}, b)
	workers[0].Misbehave(emulate.BreakBody)
	resp, err := client(t).Post(b.url+"/run/echo", "text/plain", nil)
	if err != nil {
		return // it broke even earlier
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("half an answer was taken for whole: %q", body)
	}
}

func TestHeadersOfAnswers(t *testing.T) {
	b := startBoss(t, boss.Config{})
	startWorkers(t, 1, emulate.Config{}, b)
	const id = "0190a5a4-7b3c-7def-8123-456789abcdef"
	resp, _ := get(t, http.MethodPost, b.url+"/run/echo", strings.NewReader("x"), http.Header{api.HeaderRequestID: {id}})
	if resp.Header.Get(api.HeaderRequestID) != id || resp.Header.Get(api.HeaderWorker) != "w0" || resp.Header.Get(api.HeaderStart) != "cold" {
		t.Errorf("got %v", resp.Header)
	}
	resp, _ = get(t, http.MethodPost, b.url+"/run/echo", strings.NewReader("x"), nil)
	if len(resp.Header.Get(api.HeaderRequestID)) != 36 || resp.Header.Get(api.HeaderStart) != "warm" {
		t.Errorf("got %v", resp.Header)
	}
}
