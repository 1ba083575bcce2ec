package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/api"
)

// bed is a testbed that the test has made, with real bosses and workers.
type bed struct {
	t     *testing.T
	dir   string
	hosts map[string]hostState
}

// requireTestbed skips a test where the machine cannot run it.
func requireTestbed(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not run: making network namespaces and sandboxes needs root")
	}
	if testing.Short() {
		t.Skip("not run: a testbed takes seconds to come up, left out with -short")
	}
	if bad := firstFailed(examine(t.Context())); bad != nil {
		t.Skipf("not run: this machine cannot run sandboxes: %s", bad.Name)
	}
}

func newBed(t *testing.T, args ...string) *bed {
	t.Helper()
	b := &bed{t: t, dir: filepath.Join(t.TempDir(), "bed")}
	t.Cleanup(func() {
		if code, _, talk := ol(t, "", "testbed", "down", "-p", b.dir); code != 0 {
			t.Errorf("testbed down: exit code %d: %s", code, talk)
		}
	})
	b.ol(append([]string{"testbed", "up", "-p", b.dir, "-o", "pool_size=1"}, args...)...)
	b.look()
	return b
}

// ol runs a command that must succeed, and returns what it prints.
func (b *bed) ol(args ...string) string {
	b.t.Helper()
	code, out, talk := ol(b.t, b.dir, args...)
	if code != 0 {
		b.t.Fatalf("ol %v: exit code %d: %s", args, code, talk)
	}
	return out
}

func (b *bed) on(verb string, hosts ...string) {
	b.t.Helper()
	b.ol(append([]string{"testbed", verb, "-p", b.dir}, hosts...)...)
}

func (b *bed) look() {
	b.t.Helper()
	var all []hostState
	if err := json.Unmarshal([]byte(b.ol("testbed", "status", "-p", b.dir, "--json")), &all); err != nil {
		b.t.Fatal(err)
	}
	b.hosts = map[string]hostState{}
	for _, h := range all {
		b.hosts[h.Name] = h
	}
}

func (b *bed) url(host string) string { return b.hosts[host].URL }

// at are the flags that choose a boss.
func (b *bed) at(boss string) []string {
	return []string{"--boss", b.url(boss), "--token-file", filepath.Join(b.dir, "token")}
}

// node is a worker as a boss sees it; the zero value if it does not.
func (b *bed) node(boss, name string) api.NodeState {
	b.t.Helper()
	var all []api.NodeState
	if err := json.Unmarshal([]byte(b.ol(append([]string{"nodes", "list", "--json"}, b.at(boss)...)...)), &all); err != nil {
		b.t.Fatal(err)
	}
	if i := slices.IndexFunc(all, func(n api.NodeState) bool { return n.Name == name }); i >= 0 {
		return all[i]
	}
	return api.NodeState{}
}

func (b *bed) awaitState(boss, node, state string) string {
	b.t.Helper()
	took := await(b.t, node+" is "+state+" to "+boss, func() bool { return b.node(boss, node).State == state })
	return fmt.Sprintf("%.1f s", took.Seconds())
}

// install stores a lambda that echoes; the text is what went wrong.
func (b *bed) install(boss, name string) (ok bool, talk string) {
	b.t.Helper()
	dir := b.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.py"), []byte("def f(event):\n    return event\n"), 0o644); err != nil {
		b.t.Fatal(err)
	}
	code, _, talk := ol(b.t, b.dir, append([]string{"admin", "install", dir, "-n", name}, b.at(boss)...)...)
	return code == 0, talk
}

func (b *bed) eventually(boss, name string) string {
	b.t.Helper()
	took := await(b.t, "install "+name, func() bool { ok, _ := b.install(boss, name); return ok })
	return fmt.Sprintf("%.1f s", took.Seconds())
}

// lambdas are those that a boss lists; none while it has not read its store.
func (b *bed) lambdas(boss string) []string {
	b.t.Helper()
	_, out, _ := ol(b.t, b.dir, append([]string{"list"}, b.at(boss)...)...)
	return strings.Fields(out)
}

// signal sends one to a host's process.
func (b *bed) signal(host string, sig unix.Signal) {
	b.t.Helper()
	b.look()
	if err := unix.Kill(b.hosts[host].PID, sig); err != nil {
		b.t.Fatal(err)
	}
}

// once invokes echo with a limit, and returns the status and the worker.
func (b *bed) once(boss, timeoutMS string) (int, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, b.url(boss)+api.PathRun+"echo", strings.NewReader("1"))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set(api.HeaderTimeout, timeoutMS)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header.Get(api.HeaderWorker)
}
