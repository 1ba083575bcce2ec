package boss_test

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Failure table: worker killed (-9), 1 of 3, under load; half of the workers
// killed at once.
func TestWorkersKilledUnderLoad(t *testing.T) {
	for _, tc := range []struct {
		name          string
		workers, kill int
		placer        string
	}{
		{"one of three", 3, 1, "round-robin"},
		{"half of eight", 8, 4, "hash"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := startBoss(t, boss.Config{Placer: tc.placer})
			workers := startWorkers(t, tc.workers, emulate.Config{Delay: 5 * time.Millisecond, Record: true}, b)
			y, stop := load(t, 12, func(int) string { return b.url })
			defer stop()
			await(t, "200 answers", func() bool { return y.count(200) >= 200 })
			began := time.Now()
			var wg sync.WaitGroup
			for _, w := range workers[:tc.kill] {
				wg.Go(w.Kill)
			}
			wg.Wait()
			awaitState(t, b, "up", tc.workers-tc.kill)
			detected := time.Since(began)
			after := y.total()
			await(t, "500 more answers", func() bool { return y.total() >= after+500 })
			stop()
			honest(t, y, ran(workers))
			// A request in flight on a killed worker is all that may fail.
			if n := y.count(502) + y.count(0); n > 12 {
				t.Errorf("%d requests failed, at most 12 were in flight: %v", n, y.codes)
			}
			if n := y.total() - y.count(200) - y.count(502) - y.count(0); n > 0 {
				t.Errorf("got %v", y.codes)
			}
			t.Logf("detected after %v; answers by status: %v", detected.Round(time.Millisecond), y.codes)
		})
	}
}

// Failure table: worker paused, or partitioned, then back.
func TestWorkerPausedAndBack(t *testing.T) {
	b := startBoss(t, boss.Config{Placer: "round-robin", Timeout: 30 * time.Second})
	workers := startWorkers(t, 3, emulate.Config{Delay: time.Millisecond, Record: true}, b)
	for range 30 {
		get(t, http.MethodPost, b.url+"/run/echo", strings.NewReader("x"), nil)
	}
	before := sandboxes(t, b)
	workers[0].Stall(true)
	began := time.Now()
	// What is sent to it now keeps its deadline.
	late := 0
	for range 3 {
		resp, _ := get(t, http.MethodPost, b.url+"/run/echo", strings.NewReader("x"), http.Header{api.HeaderTimeout: {"300"}})
		switch resp.StatusCode {
		case http.StatusGatewayTimeout:
			late++
		case http.StatusOK:
		default:
			t.Errorf("got %s", resp.Status)
		}
	}
	if late != 1 {
		t.Errorf("%d of 3 requests met the paused worker", late)
	}
	awaitState(t, b, "lost", 1)
	t.Logf("drained after %v", time.Since(began).Round(time.Millisecond))
	for range 20 {
		if resp, body := get(t, http.MethodPost, b.url+"/run/echo", strings.NewReader("x"), nil); resp.StatusCode != 200 {
			t.Errorf("got %s: %s", resp.Status, body)
		}
	}
	workers[0].Stall(false)
	awaitState(t, b, "up", 3)
	if after := sandboxes(t, b); after != before {
		t.Errorf("%d sandboxes are counted, there were %d", after, before)
	}
	for range 9 {
		if resp, _ := get(t, http.MethodPost, b.url+"/run/echo", strings.NewReader("x"), nil); resp.StatusCode != 200 {
			t.Errorf("got %s", resp.Status)
		}
	}
}

func sandboxes(t *testing.T, b *runningBoss) int {
	t.Helper()
	n := 0
	for _, node := range nodes(t, b) {
		n += node.Sandboxes
	}
	return n
}

// Failure table: boss killed, 1 of 3, under load, again and again: a client
// that tries the next address loses nothing but what was in flight.
func TestBossesKilledUnderLoad(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	var mu sync.Mutex
	bosses := make([]*runningBoss, 3)
	for i := range bosses {
		bosses[i] = startBoss(t, boss.Config{Drain: time.Nanosecond})
	}
	workers := startWorkers(t, 3, emulate.Config{Delay: time.Millisecond, Record: true}, bosses...)
	at := func(i int) string {
		mu.Lock()
		defer mu.Unlock()
		return bosses[i%3].url
	}
	untouched, stopUntouched := load(t, 4, func(int) string { return at(0) })
	defer stopUntouched()
	victims, stopVictims := load(t, 4, func(i int) string { return at(1 + i%2) })
	defer stopVictims()
	c := client(t)
	var worst time.Duration
	for n := range rounds {
		victim := 1 + n%2
		await(t, "some answers", func() bool { return victims.count(200) > 20*n })
		old := bosses[victim]
		old.end()
		began := time.Now()
		y := &tally{status: map[string]int{}, codes: map[int]int{}}
		for try := victim; y.one(c, at(try), "fn0") != 200; try++ {
			if time.Since(began) > patience {
				t.Fatal("no boss answered")
			}
		}
		worst = max(worst, time.Since(began))
		fresh := startBoss(t, boss.Config{Listener: listen(t, strings.TrimPrefix(old.url, "http://")), Drain: time.Nanosecond})
		awaitState(t, fresh, "up", 3)
		mu.Lock()
		bosses[victim] = fresh
		mu.Unlock()
	}
	stopVictims()
	stopUntouched()
	if bad := untouched.total() - untouched.count(200); bad > 0 {
		t.Errorf("clients of the other boss lost %d requests: %v", bad, untouched.codes)
	}
	executed := ran(workers)
	honest(t, untouched, executed)
	for _, fault := range victims.wrong {
		t.Error(fault)
	}
	t.Logf("%d kills; the other boss' clients: %v; the victims' clients: %v; a retry succeeded within %v", rounds, untouched.codes, victims.codes, worst)
}

// Failure table: 1,000 workers join during heartbeats; burst of 1,500 first
// calls.
func TestManyWorkersJoinAndManyFirstCalls(t *testing.T) {
	n, calls := 1000, 1500
	if testing.Short() {
		n, calls = 100, 300
	}
	b := startBoss(t, boss.Config{Placer: "warm-first"})
	workers := startWorkers(t, n, emulate.Config{Record: true}, b)
	y := &tally{status: map[string]int{}, codes: map[int]int{}}
	c := client(t)
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			y.one(c, b.url, "first"+string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676)))
		})
	}
	wg.Wait()
	if y.count(200) != calls {
		t.Errorf("got %v", y.codes)
	}
	honest(t, y, ran(workers))
}

// Failure table: rolling restart of workers, drained first.
func TestRollingRestartLosesNothing(t *testing.T) {
	b := startBoss(t, boss.Config{Placer: "least-loaded"})
	workers := startWorkers(t, 3, emulate.Config{Delay: 2 * time.Millisecond, Record: true}, b)
	y, stop := load(t, 8, func(int) string { return b.url })
	defer stop()
	all := append([]*emulate.Worker(nil), workers...)
	for i, w := range workers {
		await(t, "some answers", func() bool { return y.count(200) > 100*(i+1) })
		resp, body := get(t, http.MethodPost, b.url+api.PathNodes+"/"+w.Name()+"/drain", nil, nil)
		if resp.StatusCode != http.StatusNoContent {
			t.Fatalf("drain: %s: %s", resp.Status, body)
		}
		await(t, "the worker is empty", func() bool {
			for _, n := range nodes(t, b) {
				if n.Name == w.Name() {
					return n.State == "draining" && n.InFlight == 0
				}
			}
			return false
		})
		w.Kill()
		again, err := emulate.Start(emulate.Config{Name: w.Name(), Bosses: []string{b.url}, Delay: 2 * time.Millisecond, Record: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(again.Kill)
		all = append(all, again)
		awaitState(t, b, "up", 3)
	}
	stop()
	if y.count(200) != y.total() {
		t.Errorf("got %v", y.codes)
	}
	honest(t, y, ran(all))
}
