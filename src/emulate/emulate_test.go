package emulate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, cfg Config) *Worker {
	t.Helper()
	w, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Kill)
	return w
}

func post(ctx context.Context, w *Worker, id string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL()+"/run/f", strings.NewReader("body"))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set(api.HeaderRequestID, id)
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

func TestColdThenWarm(t *testing.T) {
	w := start(t, Config{Name: "w", Record: true})
	for _, want := range []string{"cold", "warm"} {
		resp, text, err := post(t.Context(), w, want)
		if err != nil || text != "body" || resp.Header.Get(api.HeaderStart) != want || resp.Header.Get(api.HeaderWorker) != "w" {
			t.Errorf("got %q, %v, want a %s start", text, err, want)
		}
	}
	if l := w.Load(); l.Functions["f"] != (api.FunctionLoad{Sandboxes: 1, Slots: 1}) || l.InFlight != 0 {
		t.Errorf("got %+v", l)
	}
	if ran := w.Ran(); ran["cold"] != 1 || ran["warm"] != 1 {
		t.Errorf("got %v", ran)
	}
}

func TestFaults(t *testing.T) {
	w := start(t, Config{Name: "w"})
	w.Misbehave(Refuse)
	if resp, _, err := post(t.Context(), w, "a"); err != nil || resp.StatusCode != 503 || resp.Header.Get(api.HeaderNotStarted) == "" {
		t.Errorf("refuse: got %v, %v", resp, err)
	}
	for _, f := range []Fault{BreakHead, BreakBody} {
		w.Misbehave(f)
		if _, text, err := post(t.Context(), w, "b"); err == nil {
			t.Errorf("fault %d: got %q", f, text)
		}
	}
}

func TestStall(t *testing.T) {
	w := start(t, Config{Name: "w"})
	w.Stall(true)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := post(short, w, "a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a stalled worker: got %v", err)
	}
	w.Stall(false)
	if _, text, err := post(t.Context(), w, "b"); err != nil || text != "body" {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestKillWhileItWorks(t *testing.T) {
	w := start(t, Config{Name: "w", Delay: time.Hour})
	ended := make(chan error, 1)
	go func() {
		_, _, err := post(t.Context(), w, "a")
		ended <- err
	}()
	<-w.wake // it has begun
	w.Kill()
	w.Kill()
	if err := <-ended; err == nil {
		t.Error("a killed worker answered")
	}
}
