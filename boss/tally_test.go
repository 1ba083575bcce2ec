package boss_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
)

// tally is what a load got.
type tally struct {
	mu     sync.Mutex
	sent   []string // ids, in no order
	status map[string]int
	codes  map[int]int // 0: no answer, or half of one
	wrong  []string    // answers of 200 that are not right
}

func (y *tally) add(id string, status int, fault string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.sent = append(y.sent, id)
	y.status[id] = status
	y.codes[status]++
	if fault != "" {
		y.wrong = append(y.wrong, fault)
	}
}

func (y *tally) count(status int) int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.codes[status]
}

func (y *tally) total() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return len(y.sent)
}

// load sends invocations from so many clients until stop is called, which
// returns what they got. Client i goes to url(i).
func load(t *testing.T, clients int, url func(i int) string) (y *tally, stop func() *tally) {
	t.Helper()
	y = &tally{status: map[string]int{}, codes: map[int]int{}}
	c := client(t)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
					y.one(c, url(i), fmt.Sprintf("fn%d", (i+n)%10))
				}
			}
		})
	}
	return y, sync.OnceValue(func() *tally { close(done); wg.Wait(); return y })
}

// one sends one invocation; a 200 must echo its body.
func (y *tally) one(c *http.Client, url, fn string) int {
	status, _ := y.try(c, url, fn, true)
	return status
}

// try is one; unless last is set, an invocation whose connection was refused
// does not count. false: it was refused.
func (y *tally) try(c *http.Client, url, fn string, last bool) (status int, connected bool) {
	id := uuid.NewString()
	req, err := http.NewRequest(http.MethodPost, url+api.PathRun+fn, strings.NewReader(id))
	if err != nil {
		panic(err)
	}
	req.Header.Set(api.HeaderRequestID, id)
	resp, err := c.Do(req)
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" && !last {
		return 0, false
	}
	if err != nil {
		y.add(id, 0, "")
		return 0, true
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		y.add(id, 0, "")
		return 0, true
	case resp.StatusCode == http.StatusOK && string(body) != id:
		y.add(id, resp.StatusCode, fmt.Sprintf("%s got %q", id, body))
	default:
		y.add(id, resp.StatusCode, "")
	}
	return resp.StatusCode, true
}

// ran joins what workers executed.
func ran(workers []*emulate.Worker) map[string]int {
	all := map[string]int{}
	for _, w := range workers {
		for id, n := range w.Ran() {
			all[id] += n
		}
	}
	return all
}

// honest checks that nothing ran twice and that every 200 ran.
func honest(t *testing.T, y *tally, executed map[string]int) {
	t.Helper()
	for _, fault := range y.wrong {
		t.Error(fault)
	}
	for id, n := range executed {
		if n > 1 {
			t.Errorf("%s ran %d times", id, n)
		}
	}
	for id, status := range y.status {
		if status == http.StatusOK && executed[id] != 1 {
			t.Errorf("%s was answered 200 and ran %d times", id, executed[id])
		}
	}
}
