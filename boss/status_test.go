package boss_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/src/emulate"
)

// The status that a worker answers with is the one that the client gets.
func TestFaultBossKeepsStatus(t *testing.T) {
	b := startBoss(t, boss.Config{})
	startWorkers(t, 1, emulate.Config{Poison: "bad"}, b)
	for name, want := range map[string]int{"good": http.StatusOK, "bad": http.StatusInternalServerError} {
		if resp, body := get(t, http.MethodPost, b.url+"/run/"+name, strings.NewReader("x"), nil); resp.StatusCode != want {
			t.Errorf("%s: got %d %s, want %d", name, resp.StatusCode, body, want)
		}
	}
}
