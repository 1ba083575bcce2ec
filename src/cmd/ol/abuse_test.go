package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/sock/nat/nattest"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/soak"
)

// abuseDir holds the lambdas that try to get out, to get at others, and to use
// up what is everybody's.
const abuseDir = "../../../test-registry/abuse"

// No attempt succeeds, whatever makes the sandboxes and whatever network they
// have; and whatever is tried, the worker and other lambdas go on.
func TestAbuse(t *testing.T) { abuse(t, sandboxSock, "none") }

func TestAbuseNAT(t *testing.T) {
	nattest.Run(t, func(t *testing.T) { abuse(t, sandboxSock, "nat") })
}

func TestAbuseContainers(t *testing.T) { abuse(t, sandboxRunc, "none") }

func TestAbuseContainersNAT(t *testing.T) {
	nattest.Run(t, func(t *testing.T) { abuse(t, sandboxRunc, "nat") })
}

const sandboxSock = "sock"

// spareLinks is how many unused networks a worker keeps beyond those made ahead.
const spareLinks = 64

// secret is what no lambda but its owner may find. It is put together here so
// that this program's own text does not hold it.
func secret() string { return strings.Join([]string{"tale", "of", "the", "keeper"}, "-") }

func abuse(t *testing.T, provider, network string) {
	if testing.Short() {
		t.Skip("it takes half a minute: left out with -short")
	}
	if provider == sandboxRunc && !haveCgo {
		t.Skip("NOT RUN: OCI containers need cgo, that is, a C compiler when this test was built")
	}
	t.Setenv("OL_ABUSE_SECRET", secret())
	a := newAbused(t, provider, network)
	before := a.rest()
	a.install("witness", "zygote", "")
	a.witness("witness")
	for _, c := range escapes() {
		t.Run(c.name, func(t *testing.T) { a.escape(t, c) })
	}
	t.Run("exhaust", a.exhaust)
	t.Run("slow readers", a.slowReaders)
	t.Run("spoiled zygote", a.spoil)
	a.removeAll()
	after := a.rest()
	// Networks and control groups are kept for reuse: there may be more, or fewer for a while.
	if after.Links <= before.Links+spareLinks {
		after.Links = before.Links
	}
	if after.Cgroups = max(after.Cgroups, before.Cgroups); after != before {
		t.Errorf("after all of it there are %+v, before %+v", after, before)
	}
	if log := a.logs.String(); strings.Contains(log, "panic") {
		t.Error("the worker panicked, see its log")
	}
}

// abused is a worker under attack.
type abused struct {
	*liveWorker
	provider, network string
	names             []string
	reachable         []string // addresses at which something listens on this machine
}

func newAbused(t *testing.T, provider, network string) *abused {
	w := startLive(t, t.TempDir(), fmt.Sprintf("sandbox=%s,network=%s,mem_pool_mb=600", provider, network))
	return &abused{liveWorker: w, provider: provider, network: network, reachable: listenEverywhere(t, w.url)}
}

// listenEverywhere listens on every address of the machine, as a careless
// worker would, and names all of them and the worker's.
func listenEverywhere(t *testing.T, worker string) []string {
	t.Helper()
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	nattest.Serve(t, l)
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	all := []string{strings.TrimPrefix(worker, "http://"), "169.254.169.254:80", "0.0.0.0:" + port}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil {
			all = append(all, net.JoinHostPort(n.IP.String(), port))
		}
	}
	return all
}

// install puts one of the lambdas of abuseDir into the registry.
func (a *abused) install(name, source, yaml string) {
	a.t.Helper()
	parts := []string{"ol.yaml", yaml}
	for file, from := range map[string]string{"f.py": source + "/f.py", "attempt.py": "attempt.py"} {
		text, err := os.ReadFile(filepath.Join(abuseDir, from))
		if err != nil {
			a.t.Fatal(err)
		}
		parts = append(parts, file, string(text))
	}
	a.put(name, parts...)
	a.names = append(a.names, name)
}

func (a *abused) send(t *testing.T, name, event string, most int64) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+api.PathRun+name, strings.NewReader(event))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return resp.StatusCode, "cut off: " + err.Error()
	}
	return resp.StatusCode, string(body)
}

// outcomes calls a lambda and returns what it says came of its attempts.
func (a *abused) outcomes(t *testing.T, name string, event map[string]any) map[string]string {
	t.Helper()
	text, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	status, body := a.send(t, name, string(text), 1<<20)
	var got map[string]string
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s: %v", name, status, body, err)
	}
	return got
}

// witness wants a lambda that does nothing wrong to answer as ever.
func (a *abused) witness(name string) {
	a.t.Helper()
	compareOutcomes(a.t, a.outcomes(a.t, name, map[string]any{}), map[string]string{
		"json": `\["a"\]`, "open": "builtin_function_or_method", "path": "", "environment": "", "random": "module",
		"processes": "1", "child": "hi\n",
	})
}

// compareOutcomes holds every outcome against the expression that it must match
// as a whole.
func compareOutcomes(t *testing.T, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(got)) {
		pattern, ok := want[name]
		if !ok {
			pattern = want[""]
		}
		if !regexp.MustCompile("^(?s:" + pattern + ")$").MatchString(got[name]) {
			t.Errorf("%s: %q, want %s", name, got[name], pattern)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok && name != "" {
			t.Errorf("%s was not tried", name)
		}
	}
}

// escape runs one of the attempts to get out or at others.
func (a *abused) escape(t *testing.T, c escapeCase) {
	a.install(c.name, c.name, "")
	event := map[string]any{"addresses": a.reachable, "mark": "mark-of-a-stranger", "socket": "own"}
	half := len(secret()) / 2
	event["parts"] = []string{secret()[:half], secret()[half:]}
	if c.first != nil {
		c.first(t, a, event)
	}
	got := a.outcomes(t, c.name, event)
	compareOutcomes(t, got, c.want)
	if c.last != nil {
		c.last(t, a, event)
	}
	a.witness("witness")
}

// rest waits until the worker has no lambda's sandbox, and counts what it has
// on the machine.
func (a *abused) rest() soak.Left {
	a.t.Helper()
	m := soak.Machine{Instance: instanceOf(a.dir), Dirs: []string{filepath.Join(a.dir, "worker", "sandboxes")}}
	var last soak.Left
	same := 0
	await(a.t, "the worker to rest", func() bool {
		now, err := m.Left()
		if err != nil {
			a.t.Fatal(err)
		}
		if same++; now != last || a.sandboxes() > 0 {
			same = 0
		}
		last = now
		return same >= 10
	})
	return last
}

func (a *abused) sandboxes() int {
	a.t.Helper()
	resp, err := http.Get(a.url + api.PathStats)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	var stats api.Stats
	if err := json.NewDecoder(resp.Body).Decode(&stats); err != nil {
		a.t.Fatal(err)
	}
	return int(stats[api.StatSandbox])
}

func (a *abused) removeAll() {
	a.t.Helper()
	for _, name := range a.names {
		req, err := http.NewRequestWithContext(a.t.Context(), http.MethodDelete, a.url+api.PathRegistry+name, nil)
		if err != nil {
			a.t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			a.t.Fatal(err)
		}
		resp.Body.Close()
	}
}
