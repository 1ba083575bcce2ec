package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/open-lambda/open-lambda/src/api"
)

// patience is how long these tests wait for what must happen in the end, on a
// machine that does other things as well.
const patience = 3 * time.Minute

func await(t *testing.T, what string, ok func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Since(began) > patience {
			t.Fatalf("waited in vain for: %s", what)
		}
		<-tick.C
	}
	return time.Since(began)
}

// crowd is clients that invoke echo until they are stopped.
type crowd struct {
	t    *testing.T
	http *http.Client
	stop func()

	mu     sync.Mutex
	codes  map[int]int    // answers by status; 0: none, or half of one
	worker map[string]int // answers of 200 by worker
	first  string         // what the first client without an answer was told
}

// startCrowd starts n clients. The i-th sends to the first boss of order(i) that
// takes the connection.
func startCrowd(t *testing.T, n int, order func(i int) []string) *crowd {
	t.Helper()
	tr := &http.Transport{MaxIdleConnsPerHost: n}
	c := &crowd{t: t, http: &http.Client{Transport: tr}, codes: map[int]int{}, worker: map[string]int{}}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					c.invoke(order(i))
				}
			}
		})
	}
	c.stop = sync.OnceFunc(func() { close(done); wg.Wait(); tr.CloseIdleConnections() })
	t.Cleanup(c.stop)
	return c
}

// invoke sends one invocation, and notes what became of it. It returns the
// status.
func (c *crowd) invoke(bosses []string) int {
	id := uuid.NewString()
	var err error
	for _, boss := range bosses {
		var resp *http.Response
		resp, err = c.http.Post(boss+api.PathRun+"echo", "application/json", strings.NewReader(`"`+id+`"`))
		if err == nil {
			return c.answered(resp, id)
		}
		var dial *net.OpError
		if !errors.As(err, &dial) || dial.Op != "dial" {
			break // it may have begun
		}
	}
	c.note(0, "", err)
	return 0
}

func (c *crowd) answered(resp *http.Response, id string) int {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.note(0, "", err)
		return 0
	}
	if resp.StatusCode == http.StatusOK && !bytes.Contains(body, []byte(id)) {
		c.t.Errorf("a false answer: %q for %s", body, id)
	}
	if resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	c.note(resp.StatusCode, resp.Header.Get(api.HeaderWorker), err)
	return resp.StatusCode
}

func (c *crowd) note(code int, worker string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.codes[code]++
	if code == http.StatusOK {
		c.worker[worker]++
	}
	if err != nil && c.first == "" {
		c.first = err.Error()
	}
}

// got returns the answers by status so far.
func (c *crowd) got() map[int]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.codes)
}

// by counts the good answers of a worker.
func (c *crowd) by(worker string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.worker[worker]
}

// goOn waits for so many more good answers.
func (c *crowd) goOn(n int) {
	c.t.Helper()
	before := c.got()[http.StatusOK]
	await(c.t, fmt.Sprintf("%d more answers", n), func() bool { return c.got()[http.StatusOK] >= before+n })
}

// bad counts everything but good answers.
func (c *crowd) bad() int {
	n := 0
	for code, count := range c.got() {
		if code != http.StatusOK {
			n += count
		}
	}
	return n
}

// lossless stops the clients, none of whom may have lost anything.
func (c *crowd) lossless(what string) {
	c.t.Helper()
	c.stop()
	if n := c.bad(); n > 0 {
		c.t.Errorf("%s: %d requests failed, the first with %q: %v", what, n, c.first, c.codes)
	}
	c.t.Logf("%s: answers by status %v", what, c.codes)
}

// ol runs a command in a directory, in this process.
func ol(t *testing.T, dir string, args ...string) (code int, out, talk string) {
	t.Helper()
	var o, e strings.Builder
	s := streams{in: strings.NewReader(""), out: &o, err: &e, dir: dir}
	code = run(context.Background(), s, append([]string{"ol"}, args...))
	return code, o.String(), e.String()
}
