package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// registryCall is one request to a lambda of the test registry and what it must
// answer.
type registryCall struct {
	lambda string
	target string // method and path below /run/<lambda>, "POST" if empty
	body   string
	status int    // 200 if 0
	want   string // the whole body; with "~" before it, a part of it
	check  func(t *testing.T, a reply)
}

func (c registryCall) run(t *testing.T, w *registryWorker) {
	t.Helper()
	method, path, _ := strings.Cut(c.target, " ")
	if method == "" {
		method = http.MethodPost
	}
	a := w.send(method+" /run/"+c.lambda+path, c.body, nil)
	if want := max(c.status, 200); a.status != want && !(c.status == 0 && a.status == 200) {
		t.Errorf("%s %s %.100s: status %v, want %d", c.lambda, c.target, c.body, a, want)
		return
	}
	part, isPart := strings.CutPrefix(c.want, "~")
	switch {
	case c.check != nil:
		c.check(t, a)
	case isPart && !strings.Contains(a.body, part), !isPart && a.body != c.want:
		t.Errorf("%s %s %.100s: %v, want %q", c.lambda, c.target, c.body, a, c.want)
	}
}

// plainCalls need nothing but Python's standard library.
func plainCalls() []registryCall {
	return []registryCall{
		{lambda: "echo", body: `{"a": [1, 2.5, "é"]}`, want: `{"a": [1, 2.5, "\u00e9"]}`},
		{lambda: "hello", want: `"hello"`},
		{lambda: "hello2", want: `"hello"`},
		{lambda: "version", want: "~[3, "},
		{lambda: "timeout", body: "0.01", want: "0.01"},
		{lambda: "timeout", body: "60", status: 504, want: "~runtime_sec"},
		{lambda: "fbomb", check: between(1, 10)},
		{lambda: "max_mem_alloc", check: between(50-16, 50)},
		{lambda: "env-test", check: jsonIs(`{"FIRST": "1", "SECOND": "two words", "THIRD": "with = and # and 'quotes'", "FOURTH": "é", "EMPTY": ""}`)},
		{lambda: "syslog", want: "-1"},
		{lambda: "stream", body: `{"lines": 3}`, want: "line 0\nline 1\nline 2\n"},
		{lambda: "hash", body: `{"text": "a"}`, want: `"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"`},
		{lambda: "big", body: `{"bytes": 100000}`, want: strings.Repeat("x", 100_000)},
		{lambda: "sleep", body: `{"ms": 1}`, want: "1"},
		{lambda: "prints", body: `{"lines": 2}`, want: "2"},
		{lambda: "exits", body: `{"code": 4}`, status: 500, want: "handler called sys.exit(4)\n"},
		{lambda: "crash", status: 502, want: "~killed"},
		{lambda: "wsgi-test", target: "GET /home", want: "home, button at /run/wsgi-test/home/button\n"},
		{lambda: "wsgi-test", target: "POST /home/button", check: headerIs("Set-Cookie", "a=1", "b=2")},
		{lambda: "wsgi-test", target: "GET /elsewhere", status: 404, want: "nothing here\n"},
		{lambda: "wsgi-entry-test", target: "PUT", want: "entry PUT\n"},
		{lambda: "wsgi-post-echo", body: "\x00bytes\xff", want: "\x00bytes\xff"},
		{lambda: "wsgi-post-echo", body: strings.Repeat("large", 100_000), want: strings.Repeat("large", 100_000)},
		{lambda: "lambda-config-test", status: 418, want: "short and stout\n"},
		{lambda: "lambda-config-test", target: "GET", want: "ready\n"},
		{lambda: "lambda-config-test", target: "PUT", status: 405, want: "~HTTP method not allowed. Sent: PUT, Allowed: [GET POST]"},
		{lambda: "asgi-test", target: "GET /a/b", want: `{"method": "GET", "path": "/a/b", "root_path": "/run/asgi-test", "started": ["yes"]}`},
		{lambda: "asgi-test", target: "POST /echo", body: strings.Repeat("large", 100_000), want: strings.Repeat("LARGE", 100_000)},
		{lambda: "async", want: "2"},
		{lambda: "context", body: "[1]", check: contextTells},
		{lambda: "non-ascii", want: `{"\u00e4": "\u00fc", "\u65e5\u672c": "\u8a9e"}`},
		{lambda: "shadow", want: `["lambda_json", [1]]`},
	}
}

// webCalls need the layer web.
func webCalls() []registryCall {
	return []registryCall{
		{lambda: "flask-test", target: "GET", status: 418, check: func(t *testing.T, a reply) {
			if a.body != "hi\n" || a.header.Get("A") != "B" {
				t.Errorf("flask-test: %v", a)
			}
		}},
		{lambda: "flask-entry-test", target: "GET /", status: 418, want: "hi\n"},
		{lambda: "flask-entry-test", target: "POST /items/7", check: jsonIs(`{"item": 7, "method": "POST", "from": true}`)},
		{lambda: "flask-entry-test", target: "GET /url", want: "~/run/flask-entry-test/items/7"},
		{lambda: "flask-entry-test", target: "GET /nothing", status: 404, want: "~Not Found"},
		{lambda: "fastapi-test", target: "GET /", want: `{"hello":"world","started":true,"root_path":"/run/fastapi-test"}`},
		{lambda: "fastapi-test", target: "GET /items/7?q=x%20y", want: `{"number":7,"q":"x y"}`},
		{lambda: "fastapi-test", target: "GET /items/seven", status: 422, want: "~not a valid integer"},
		{lambda: "fastapi-test", target: "POST /items", body: `{"name": "tea", "price": 2}`, status: 201, want: `{"name":"tea","with_tax":2.4}`},
		{lambda: "fastapi-test", target: "GET /teapot", status: 418, want: `{"detail":"short and stout"}`},
		{lambda: "fastapi-test", target: "GET /stream/3", want: "line 0\nline 1\nline 2\n"},
		{lambda: "fastapi-test", target: "GET /fails", status: 500, want: "Internal Server Error"},
		{lambda: "fastapi-test", target: "GET /docs", want: "~/run/fastapi-test/openapi.json"},
		{lambda: "dynamic-html", body: `{"size": 3, "username": "<b>"}`, want: "<!DOCTYPE html>\n<title>&lt;b&gt;</title>\n<p>Welcome, &lt;b&gt;!\n<ol>\n<li>0\n<li>1\n<li>4\n</ol>"},
	}
}

// Every lambda of the test registry says what it does, and is called by a test
// here or in the tests that are named.
func TestRegistryIsCovered(t *testing.T) {
	covered := map[string]string{
		"native": "TestRegistryNative", "soak": "TestSoak", "spin": "ol bench", "init": "ol demo",
		"install1": "TestInstallCounts", "install2": "TestInstallCounts", "install3": "TestInstallCounts",
	}
	for _, c := range slices.Concat(plainCalls(), computeCalls(), webCalls(), scienceCalls(), visionCalls()) {
		covered[c.lambda] = "a table"
	}
	entries, err := os.ReadDir(registryDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !entry.IsDir() || entry.Name() == "native" || entry.Name() == "abuse" { // TestAbuse
			continue
		}
		dir := filepath.Join(registryDir, entry.Name())
		cfg, warnings, err := lambda.ReadDir(dir)
		if err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v, %q", dir, err, warnings)
		}
		name, err := cfg.EntryIn(dir)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.HasPrefix(string(text), `"""`) {
			t.Errorf("%s/%s does not say what it does: %v", dir, name, err)
		}
		if covered[entry.Name()] == "" {
			t.Errorf("no test calls %s", dir)
		}
	}
}

// New code is visible within registry_cache_ms, and an older version never
// afterwards.
func TestRegistryUpdateCode(t *testing.T) {
	w := startRegistryWorker(t, imageHost, "")
	last := 0
	for version := 1; version <= 3; version++ {
		w.installSource("update_code", fmt.Sprintf("def f(event):\n    return %d\n", version))
		deadline := time.Now().Add(registryPatience)
		for last < version && time.Now().Before(deadline) {
			a := w.send("POST /run/update_code", "", nil)
			n, err := strconv.Atoi(a.body)
			if err != nil || n < last || n > version {
				t.Fatalf("version %d answers after %d: %v", last, version, a)
			}
			last = n
		}
	}
	if last != 3 {
		t.Errorf("version %d still answers", last)
	}
}

// Clients at once each get their own answers, every one.
func TestRegistryStressOneLambda(t *testing.T) {
	w := startRegistryWorker(t, imageHost, "")
	w.install("echo", filepath.Join(registryDir, "echo"))
	const requests = 96
	for _, clients := range []int{1, 2, 8} {
		var group errgroup.Group
		for c := range clients {
			group.Go(func() error {
				for i := range requests / clients {
					body := fmt.Sprintf(`{"client": %d, "n": %d}`, c, i)
					if a, err := w.try("POST /run/echo", body, nil); err != nil || a.status != 200 || a.body != body {
						return fmt.Errorf("%s: %v, %w", body, a, err)
					}
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Errorf("%d clients: %v", clients, err)
		}
	}
}

// Every lambda of the test registry that the host's Python can run answers as it
// must, twice: from a new sandbox and from a used one.
func TestRegistry(t *testing.T) {
	w := startRegistryWorker(t, imageHost, "limits.runtime_sec=20")
	calls := append(plainCalls(), computeCalls()...)
	for _, c := range calls {
		if c.lambda == "timeout" && c.status != 0 {
			continue // waits for the limit: once is enough, below
		}
		w.runTwice(t, c)
	}
}

func (w *registryWorker) runTwice(t *testing.T, c registryCall) {
	t.Helper()
	w.install(c.lambda, filepath.Join(registryDir, c.lambda))
	for range 2 {
		c.run(t, w)
	}
}

// A lambda that is a module with an application in it, without f.py.
func TestRegistryEntryInAModule(t *testing.T) {
	w := startRegistryWorker(t, imageHost, "")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"site_of_mine.py": "class Site:\n    def app(self, environ, start):\n        start('200 OK', [])\n        return [environ['HTTP_X_FORWARDED_HOST'].encode()]\nsite = Site()\n",
		lambda.ConfigFile: "environment: {OL_WSGI_ENTRY: 'site_of_mine:site.app'}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.install("module", dir)
	registryCall{lambda: "module", target: "GET", want: strings.TrimPrefix(w.node.url(""), "http://")}.run(t, w)
}

// A handler knows how long its caller waits, if that is shorter than its limit.
func TestRegistryDeadline(t *testing.T) {
	w := startRegistryWorker(t, imageHost, "")
	w.install("context", filepath.Join(registryDir, "context"))
	a := w.send("POST /run/context", "", http.Header{api.HeaderTimeout: {"9000"}})
	if left, _ := field(t, a, "remaining_ms").(float64); left <= 0 || left > 9000 {
		t.Errorf("of 9000 ms are left: %v", a)
	}
}

func TestRegistryTimeout(t *testing.T) {
	w := startRegistryWorker(t, imageHost, "limits.runtime_sec=1")
	for _, c := range plainCalls() {
		if c.lambda == "timeout" {
			w.install(c.lambda, filepath.Join(registryDir, c.lambda))
			c.run(t, w)
		}
	}
}

// Without the filter the system call works, where the kernel lets everybody.
func TestRegistrySyslogWithoutSeccomp(t *testing.T) {
	restricted, err := os.ReadFile("/proc/sys/kernel/dmesg_restrict")
	if err != nil || strings.TrimSpace(string(restricted)) != "0" {
		t.Skipf("SKIPPED: kernel.dmesg_restrict is %q: the call is refused anyway (%v)", restricted, err)
	}
	w := startRegistryWorker(t, imageHost, "features.enable_seccomp=false")
	w.runTwice(t, registryCall{lambda: "syslog", want: "0"})
}

// The program of the test registry, built as make does.
func TestRegistryNative(t *testing.T) {
	w := startRegistryWorker(t, imageHost, "")
	w.install("native", buildNative(t))
	w.install("echo", filepath.Join(registryDir, "echo"))
	for _, c := range []registryCall{
		{target: "GET", want: "\"noop\"\n"},
		{target: "GET /noop", want: "\"noop\"\n"},
		{target: "POST /hash", body: `{"text": "a", "rounds": 2}`, want: "\"bf5d3affb73efd2ec6c36ad3112dd933efed63c4e1cbffcfa88e2759c144f2d8\"\n"},
		{target: "POST /multiply", body: `{"a": 25, "b": 8}`, want: "200\n"},
		{target: "POST /multiply", body: "{", status: 400, want: "~read event"},
		{target: "POST /call", body: `{"lambda": "echo", "event": {"a": 1}}`, want: `{"status":200,"answer":"{\"a\": 1}"}` + "\n"},
		{target: "POST /call", body: `{"lambda": "native", "event": {}}`, want: `~"status":403`},
		{target: "POST /divide", status: 404, want: "~no function divide"},
	} {
		c.lambda = "native"
		c.run(t, w)
	}
}

// buildNative returns a directory with the native lambda, ready to be installed.
func buildNative(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(registryDir, "native")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", filepath.Join(dir, lambda.Programs()[0]), "./"+source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build native lambda: %v\n%s", err, out)
	}
	if err := copyFile(filepath.Join(source, lambda.ConfigFile), filepath.Join(dir, lambda.ConfigFile)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// With reuse-sandbox: false every request has a sandbox that no other had.
func TestReuseSandboxFalse(t *testing.T) {
	w := startLive(t, t.TempDir(), "")
	const counts = "n = 0\ndef f(event):\n    global n\n    n += 1\n    return n\n"
	w.put("fresh", "f.py", counts, "ol.yaml", "reuse-sandbox: false\n")
	w.put("kept", "f.py", counts)
	for i := range 3 {
		w.expect("fresh", 200, "1")
		w.expect("kept", 200, strconv.Itoa(i+1))
	}
}
