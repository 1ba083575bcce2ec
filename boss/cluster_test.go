package boss_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/boss/registry"
	"github.com/open-lambda/open-lambda/boss/registry/memory"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen in the end.
const patience = 3 * time.Minute

// runningBoss is a boss under test.
type runningBoss struct {
	*boss.Boss
	url string
	end func() // as a killed process ends
}

func listen(t *testing.T, addr string) net.Listener {
	t.Helper()
	l, err := boss.Listen(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func startBoss(t *testing.T, cfg boss.Config) *runningBoss {
	t.Helper()
	if cfg.Listener == nil {
		cfg.Listener = listen(t, "127.0.0.1:0")
	}
	if cfg.Drain == 0 {
		cfg.Drain = 20 * time.Second
	}
	b, err := boss.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		// One that is killed does not drain.
		if err := b.Run(ctx); err != nil && cfg.Drain > time.Second {
			t.Errorf("boss: %v", err)
		}
	})
	end := func() { cancel(); wg.Wait() }
	t.Cleanup(end)
	return &runningBoss{Boss: b, url: "http://" + b.Addr().String(), end: end}
}

func startWorkers(t *testing.T, n int, cfg emulate.Config, bosses ...*runningBoss) []*emulate.Worker {
	t.Helper()
	for _, b := range bosses {
		cfg.Bosses = append(cfg.Bosses, b.url)
	}
	all := make([]*emulate.Worker, n)
	for i := range all {
		cfg.Name = fmt.Sprintf("w%d", i)
		w, err := emulate.Start(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Kill)
		all[i] = w
	}
	for _, b := range bosses {
		awaitState(t, b, "up", n)
	}
	return all
}

// nodes are the workers as a boss sees them.
func nodes(t *testing.T, b *runningBoss) []api.NodeState {
	t.Helper()
	var all []api.NodeState
	resp, body := get(t, http.MethodGet, b.url+api.PathNodes, nil, nil)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("nodes: %s", body)
	}
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func count(t *testing.T, b *runningBoss, state string) int {
	t.Helper()
	n := 0
	for _, node := range nodes(t, b) {
		if node.State == state {
			n++
		}
	}
	return n
}

func awaitState(t *testing.T, b *runningBoss, state string, n int) {
	t.Helper()
	// Asking about many workers is work in itself.
	every := time.Duration(20+n) * time.Millisecond
	awaitEvery(t, every, fmt.Sprintf("%d workers %s", n, state), func() bool { return count(t, b, state) == n })
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	awaitEvery(t, 20*time.Millisecond, what, ok)
}

func awaitEvery(t *testing.T, every time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for: %s", what)
		}
		<-tick.C
	}
}

func client(t *testing.T) *http.Client {
	t.Helper()
	tr := &http.Transport{MaxIdleConnsPerHost: 100}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func get(t *testing.T, method, url string, body io.Reader, header http.Header) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for k, vs := range header {
		req.Header[k] = vs
	}
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, text
}

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

// newRegistry makes a registry over a store in memory.
func newRegistry(t *testing.T, s *memory.Store) *registry.Registry {
	t.Helper()
	r, err := registry.New(registry.Config{Meta: s, Code: s.Code(), Scratch: t.TempDir(), Limits: archive.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// packed is the archive of a lambda whose code says what.
func packed(t *testing.T, what string) []byte {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, dir+"/f.py", "def f(event): return "+strconv.Quote(what)+"\n")
	var b bytes.Buffer
	if err := archive.Pack(&b, dir, "f.py"); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
