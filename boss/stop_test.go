package boss_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/src/emulate"
)

// Failure table: rolling restart of bosses: clients that go to the next address
// when one refuses the connection lose nothing, although they send all the time.
func TestRollingRestartOfBossesLosesNothing(t *testing.T) {
	var mu sync.Mutex
	bosses := make([]*runningBoss, 3)
	for i := range bosses {
		bosses[i] = startBoss(t, boss.Config{})
	}
	workers := startWorkers(t, 2, emulate.Config{Delay: 2 * time.Millisecond, Record: true}, bosses...)
	at := func(i int) string {
		mu.Lock()
		defer mu.Unlock()
		return bosses[i%3].url
	}
	y := &tally{status: map[string]int{}, codes: map[int]int{}}
	c := client(t)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					y.somewhere(c, i, at)
				}
			}
		})
	}
	defer wg.Wait()
	end := sync.OnceFunc(func() { close(done) })
	defer end()
	for i := range bosses {
		await(t, "some answers", func() bool { return y.count(200) > 200*(i+1) })
		old := bosses[i]
		old.end()
		fresh := startBoss(t, boss.Config{Listener: listen(t, strings.TrimPrefix(old.url, "http://"))})
		awaitState(t, fresh, "up", 2)
		mu.Lock()
		bosses[i] = fresh
		mu.Unlock()
	}
	end()
	wg.Wait()
	if bad := y.total() - y.count(200); bad > 0 {
		t.Errorf("%d requests failed: %v", bad, y.codes)
	}
	honest(t, y, ran(workers))
	t.Logf("answers by status: %v", y.codes)
}

// somewhere sends one invocation to the first boss, from the i-th on, that takes
// the connection.
func (y *tally) somewhere(c *http.Client, i int, at func(int) string) {
	for n := range 3 {
		if _, connected := y.try(c, at(i+n), "fn0", n == 2); connected {
			return
		}
	}
}
