package boss_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

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
