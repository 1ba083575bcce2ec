package boss_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/boss/jetstream"
	"github.com/open-lambda/open-lambda/boss/registry"
	"github.com/open-lambda/open-lambda/boss/registry/memory"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
)

func install(t *testing.T, b *runningBoss, name, what string) *http.Response {
	t.Helper()
	resp, body := get(t, http.MethodPost, b.url+api.PathRegistry+name, bytes.NewReader(packed(t, what)), nil)
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("install %s: %s: %s", name, resp.Status, body)
	}
	return resp
}

// Two bosses over one store: what one takes, both know, and workers are told.
func TestLambdasOfTwoBosses(t *testing.T) {
	s := memory.New()
	a, b := startBoss(t, boss.Config{Registry: newRegistry(t, s)}), startBoss(t, boss.Config{Registry: newRegistry(t, s)})
	workers := startWorkers(t, 2, emulate.Config{}, a, b)
	status := func(url string) int {
		resp, _ := get(t, http.MethodPost, url+"/run/hello", strings.NewReader("x"), nil)
		return resp.StatusCode
	}
	await(t, "an unknown lambda is unknown", func() bool { return status(a.url) == 404 && status(b.url) == 404 })
	install(t, a, "hello", "one")
	if got := status(a.url); got != 200 {
		t.Errorf("the boss that took it answers %d", got)
	}
	await(t, "the other boss knows it", func() bool { return status(b.url) == 200 })
	await(t, "workers are told", func() bool {
		return slices.Contains(workers[0].Told(), "hello") && slices.Contains(workers[1].Told(), "hello")
	})
	if resp, _ := get(t, http.MethodDelete, b.url+api.PathRegistry+"hello", nil, nil); resp.StatusCode != 200 {
		t.Errorf("delete: %s", resp.Status)
	}
	await(t, "it is gone everywhere", func() bool { return status(a.url) == 404 && status(b.url) == 404 })
}

// Failure table: quorum lost: invocations go on, writes fail at once with 503
// and a reason, and it recovers by itself.
func TestInvocationsGoOnWithoutTheStore(t *testing.T) {
	s := memory.New()
	b := startBoss(t, boss.Config{Registry: newRegistry(t, s)})
	startWorkers(t, 2, emulate.Config{}, b)
	install(t, b, "fn0", "x")
	s.SetDown(true)
	for range 50 {
		if resp, body := get(t, http.MethodPost, b.url+"/run/fn0", strings.NewReader("x"), nil); resp.StatusCode != 200 {
			t.Fatalf("got %s: %s", resp.Status, body)
		}
	}
	began := time.Now()
	resp, body := get(t, http.MethodPost, b.url+api.PathRegistry+"new", bytes.NewReader(packed(t, "x")), nil)
	if resp.StatusCode != 503 || reason(t, body) != "registry-unavailable" || resp.Header.Get("Retry-After") == "" {
		t.Errorf("got %s: %s", resp.Status, body)
	}
	t.Logf("a write failed after %v", time.Since(began).Round(time.Millisecond))
	s.SetDown(false)
	install(t, b, "new", "x")
}

// A boss over JetStream that is stopped and started again has lost nothing.
func TestRegistryOutlivesTheBoss(t *testing.T) {
	dir := t.TempDir()
	var code []byte
	for round := range 2 {
		s, err := jetstream.Open(jetstream.Config{Dir: dir, SyncEvery: time.Minute}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := registry.New(registry.Config{Meta: s, Code: s.Code(), Scratch: t.TempDir(), Limits: archive.DefaultLimits(), Patience: patience})
		if err != nil {
			t.Fatal(err)
		}
		b := startBoss(t, boss.Config{Registry: r})
		if round == 0 {
			code = packed(t, "one")
			if resp, body := get(t, http.MethodPost, b.url+api.PathRegistry+"hello", bytes.NewReader(code), nil); resp.StatusCode != 201 {
				t.Fatalf("got %s: %s", resp.Status, body)
			}
		} else {
			<-r.Synced()
			if resp, body := get(t, http.MethodGet, b.url+api.PathRegistry+"hello", nil, nil); resp.StatusCode != 200 || !bytes.Equal(body, code) {
				t.Errorf("got %s, %d bytes", resp.Status, len(body))
			}
		}
		b.end()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
