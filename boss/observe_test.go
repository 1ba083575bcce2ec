package boss_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/boss/registry/memory"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
)

// scrape reads /metrics.
func scrape(t *testing.T, b *runningBoss) string {
	t.Helper()
	resp, body := get(t, http.MethodGet, b.url+api.PathMetrics, nil, nil)
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		t.Fatalf("got %s, %q", resp.Status, resp.Header.Get("Content-Type"))
	}
	return string(body)
}

func TestMetrics(t *testing.T) {
	s := memory.New()
	b := startBoss(t, boss.Config{Registry: newRegistry(t, s), Placer: "round-robin"})
	workers := startWorkers(t, 2, emulate.Config{}, b)
	install(t, b, "fn0", "x")
	await(t, "the registry is read", func() bool { return strings.Contains(scrape(t, b), "ol_boss_store_up 1") })
	ask := func(path string) { get(t, http.MethodPost, b.url+path, strings.NewReader("x"), nil) }
	for range 4 {
		ask("/run/fn0")
	}
	ask("/run/unknown")
	workers[0].Misbehave(emulate.Refuse)
	ask("/run/fn0")
	ask("/run/fn0")
	workers[1].Misbehave(emulate.Refuse)
	ask("/run/fn0")
	got := strings.Split(scrape(t, b), "\n")
	for _, want := range []string{
		`ol_boss_invocations_total{code="200"} 6`, `ol_boss_invocations_total{code="404"} 1`, `ol_boss_invocations_total{code="503"} 1`,
		`ol_boss_invocation_seconds_count 8`, `ol_boss_workers{state="up"} 2`, `ol_boss_in_flight 0`,
		`ol_boss_lambdas 1`, `ol_boss_store_up 1`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, regexp.MustCompile(`(?m)^ol_.*$`).FindAllString(strings.Join(got, "\n"), -1))
		}
	}
	// Round-robin may have begun with either worker; the last one was tried on both.
	if !slices.ContainsFunc(got, regexp.MustCompile(`^ol_boss_retries_total [1-3]$`).MatchString) {
		t.Error("retries are not counted")
	}
	s.SetDown(true)
	await(t, "the loss of the store is seen", func() bool { return strings.Contains(scrape(t, b), "ol_boss_store_up 0") })
}
