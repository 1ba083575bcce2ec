package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
)

// bossGroup is three bosses in processes of their own, on ports of this machine.
type bossGroup struct {
	t     *testing.T
	dir   string
	token string
	ports []string
	peers []string
	run   []*exec.Cmd
}

func newBossGroup(t *testing.T) *bossGroup {
	t.Helper()
	g := &bossGroup{t: t, dir: t.TempDir(), run: make([]*exec.Cmd, 3)}
	g.token = filepath.Join(g.dir, "token")
	if err := os.WriteFile(g.token, []byte("of this test alone\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, addr := range freeAddrs(t, 6) {
		if i < 3 {
			_, port, err := net.SplitHostPort(addr)
			if err != nil {
				t.Fatal(err)
			}
			g.ports = append(g.ports, port)
		} else {
			g.peers = append(g.peers, addr)
		}
	}
	t.Cleanup(func() {
		for i := range g.run {
			g.kill(i)
		}
	})
	for i := range g.run {
		g.start(i)
	}
	return g
}

// freeAddrs asks the kernel for addresses that nobody listens on.
func freeAddrs(t *testing.T, n int) []string {
	t.Helper()
	var addrs []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addrs = append(addrs, l.Addr().String())
	}
	return addrs
}

func (g *bossGroup) url(i int) string { return "http://127.0.0.1:" + g.ports[i] }

func (g *bossGroup) urls() []string { return []string{g.url(0), g.url(1), g.url(2)} }

// start starts a boss and does not wait for it.
func (g *bossGroup) start(i int) {
	g.t.Helper()
	log, err := os.OpenFile(filepath.Join(g.dir, fmt.Sprintf("boss%d.out", i)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		g.t.Fatal(err)
	}
	defer log.Close()
	options := fmt.Sprintf("boss_url=127.0.0.1,boss_port=%s,token_file=%q,placer=least-loaded,store.name=boss%d,store.listen=%s,store.peers=%q",
		g.ports[i], g.token, i, g.peers[i], strings.Join(g.peers, ","))
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Env: os.Environ(), Stdout: log, Stderr: log,
		Args: []string{"ol", "boss", "up", "-p", filepath.Join(g.dir, fmt.Sprintf("boss%d", i)), "-o", options},
	}
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.run[i] = cmd
}

// kill ends a boss with SIGKILL, if it runs.
func (g *bossGroup) kill(i int) {
	if g.run[i] != nil {
		_ = g.run[i].Process.Kill() // it may have ended, which Wait tells
		_ = g.run[i].Wait()
		g.run[i] = nil
	}
}

// awaitUp waits until a boss serves and knows so many workers.
func (g *bossGroup) awaitUp(i, workers int) {
	g.t.Helper()
	await(g.t, fmt.Sprintf("boss%d serves", i), func() bool {
		b, err := newBossClient(g.url(i), "", nil)
		var st api.BossStatus
		return err == nil && b.getJSON(g.t.Context(), api.PathStatus, &st) == nil && st.State["running"] == workers
	})
}

// install writes a lambda by way of a boss.
func (g *bossGroup) install(i int, name string) (bool, string) {
	g.t.Helper()
	code, _, talk := ol(g.t, g.dir, "admin", "install", "echo", "-n", name, "--boss", g.url(i), "--token-file", g.token)
	return code == 0, talk
}

func (g *bossGroup) lambdas(i int) []string {
	g.t.Helper()
	_, out, _ := ol(g.t, g.dir, "list", "--boss", g.url(i), "--token-file", g.token)
	return strings.Fields(out)
}

// Failure table: a boss is killed (-9), 1 of 3, under load, 50 times: clients on
// another one lose nothing, one that tries the next address succeeds within a
// second, and what the registry has acknowledged stays.
func TestBossProcessesKilledUnderLoad(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 3
	}
	g := newBossGroup(t)
	if err := os.MkdirAll(filepath.Join(g.dir, "echo"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.dir, "echo", "f.py"), []byte("def f(event):\n    return event\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		w, err := emulate.Start(emulate.Config{Name: fmt.Sprintf("w%d", i), Bosses: g.urls(), Token: "of this test alone", Delay: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Kill)
	}
	for i := range 3 {
		g.awaitUp(i, 3)
	}
	await(t, "the group takes writes", func() bool { ok, _ := g.install(0, "echo"); return ok })
	for i := range 3 {
		await(t, "it is known everywhere", func() bool { return slices.Contains(g.lambdas(i), "echo") })
	}
	untouched := startCrowd(t, 3, func(int) []string { return []string{g.url(0)} })
	victims := startCrowd(t, 3, func(i int) []string { return []string{g.url(1 + i%2)} })
	writer := startWriter(g)
	var gaps []time.Duration
	for n := range rounds {
		victim := 1 + n%2
		g.kill(victim)
		began := time.Now()
		retry := &crowd{t: t, http: untouched.http, codes: map[int]int{}, worker: map[string]int{}}
		for retry.invoke([]string{g.url(victim), g.url(3 - victim), g.url(0)}) != 200 {
			if time.Since(began) > patience {
				t.Fatal("no boss answered")
			}
		}
		gaps = append(gaps, time.Since(began))
		g.start(victim)
		g.awaitUp(victim, 3)
	}
	victims.stop()
	written, refused := writer()
	untouched.lossless("clients of the boss that lived")
	slices.Sort(gaps)
	t.Logf("%d kills; a client that tried the next address was answered after %v (median), %v (worst)", rounds, gaps[len(gaps)/2].Round(time.Millisecond), gaps[len(gaps)-1].Round(time.Millisecond))
	t.Logf("clients of the killed ones: %v; writes meanwhile: %d acknowledged, %d refused", victims.got(), len(written), refused)
	for i := range 3 {
		await(t, fmt.Sprintf("boss%d has every lambda that was acknowledged", i), func() bool {
			all := g.lambdas(i)
			return !slices.ContainsFunc(written, func(name string) bool { return !slices.Contains(all, name) })
		})
	}
}

// startWriter installs lambdas by way of the boss that lives until the function
// that it returns is called, which tells those that were acknowledged.
func startWriter(g *bossGroup) func() (written []string, refused int) {
	done := make(chan struct{})
	written, refused := []string{"echo"}, 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
			name := fmt.Sprintf("fn%d", n)
			if ok, _ := g.install(0, name); ok {
				written = append(written, name)
			} else {
				refused++
			}
		}
	})
	stop := sync.OnceFunc(func() { close(done); wg.Wait() })
	g.t.Cleanup(stop)
	return func() ([]string, int) { stop(); return written, refused }
}
