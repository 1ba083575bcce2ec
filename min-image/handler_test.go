package minimage

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestMisbehavingHandlers(t *testing.T) {
	p := start(t, `
import sys, os
def f(event):
    if event == "exit": sys.exit(3)
    if event == "base": raise BaseException("rare")
    if event == "value": raise ValueError("wrong")
    if event == "recursion": return f(event)
    if event == "memory": raise MemoryError()
    if event == "set": return {1, 2}
    if event == "cycle":
        a = []; a.append(a); return a
    if event == "str":
        class Hostile(Exception):
            def __str__(self): raise SystemExit(1)
        raise Hostile()
    if event == "close": sys.stdout.close()
    if event == "replace": sys.stdout = sys.stderr = None
    if event == "interrupt": raise KeyboardInterrupt()
    if event == "generator exit": raise GeneratorExit()
    return 1
`, nil)
	for event, text := range map[string]string{
		"exit":           "handler called sys.exit(3)\n",
		"base":           "BaseException: rare",
		"value":          "ValueError: wrong",
		"recursion":      "RecursionError",
		"memory":         "MemoryError",
		"set":            "not JSON serializable",
		"cycle":          "RecursionError",
		"str":            "Hostile",
		"interrupt":      "KeyboardInterrupt",
		"generator exit": "GeneratorExit",
	} {
		code, got := p.post(`"` + event + `"`)
		if code != 500 || !strings.Contains(got, text) {
			t.Errorf("%s: %d %q", event, code, got)
		}
		if strings.Contains(got, "olrt") {
			t.Errorf("%s: traceback shows the runtime: %s", event, got)
		}
		p.expect("0", 200, "1")
	}
	for _, event := range []string{"close", "replace"} {
		p.expect(`"`+event+`"`, 200, "1")
		p.expect("0", 200, "1")
	}
}

func TestHandlerThatEndsItsProcess(t *testing.T) {
	for _, death := range []string{"os._exit(3)", "os.kill(os.getpid(), 9)"} {
		p := start(t, "import os\ndef f(event):\n    "+death+"\n", nil)
		if _, err := p.client.Do(request(t, "POST", "/", nil)); err == nil {
			t.Errorf("%s: answered", death)
		}
		<-p.ended
	}
}

func TestForkedChildren(t *testing.T) {
	p := start(t, `
import os, sys, time
def f(event):
    pid = os.fork()
    if pid == 0:
        print("child of", event, flush=True)
        if event == "returns": return "from the child"
        if event == "raises": raise ValueError("in the child")
        if event == "exits": sys.exit(5)
        time.sleep(1000)
    if event == "stays":
        import atexit
        return pid
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
`, nil)
	p.expect(`"returns"`, 200, "0")
	p.expect(`"raises"`, 200, "1")
	p.expect(`"exits"`, 200, "5")
	p.await("ValueError: in the child")
	code, pid := p.post(`"stays"`)
	if code != 200 {
		t.Fatalf("child that stays: %d", code)
	}
	p.expect(`"returns"`, 200, "0")
	if err := exec.Command("kill", "-9", pid).Run(); err != nil {
		t.Errorf("kill %s: %v", pid, err)
	}
}

// callToLeave begins a call, and returns what ends the caller's interest in it
// and waits for that.
func callToLeave(t *testing.T, p *runtimeProcess) (leave func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		resp, err := p.client.Do(request(t, "POST", "/", nil).WithContext(ctx))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled request: %v", err)
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

func TestDisconnectInterruptsHandler(t *testing.T) {
	for name, body := range map[string]string{
		"sleeping": "time.sleep(1000)",
		"spinning": "while True: pass",
		"child":    "import subprocess; subprocess.run(['sleep', '1000'])",
		"stream":   "yield 'a'\n    time.sleep(1000)",
		"finally": "try:\n        print('in try', flush=True)\n        time.sleep(1000)\n" +
			"    finally: print('tidied', flush=True)\n    yield 'a'",
	} {
		t.Run(name, func(t *testing.T) {
			source := "import time\ndef slow():\n    print('begun', flush=True)\n    " + body +
				"\ndef f(event):\n    return 7 if event else slow()\n"
			p := start(t, source, nil)
			leave := callToLeave(t, p)
			p.await("begun")
			if name == "finally" {
				p.await("in try")
			}
			leave()
			if err := p.ping(); err != nil {
				t.Fatalf("ping after the client has gone: %v", err)
			}
			if name == "finally" {
				p.await("tidied")
			}
			p.expect("1", 200, "7")
		})
	}
}

func TestHalfClosedClientIsAnswered(t *testing.T) {
	p := start(t, "import time\ndef f(event):\n    time.sleep(0.1)\n    return event\n", nil)
	conn := p.dial()
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n1"); err != nil {
		t.Fatal(err)
	}
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasSuffix(string(answer), "\r\n\r\n1") {
		t.Fatalf("half-closed client reads %q, %v", answer, err)
	}
}

func TestPingWaitsForAHandlerThatCannotBeInterrupted(t *testing.T) {
	over := filepath.Join(t.TempDir(), "over")
	p := start(t, `
import os, time
def f(event):
    end, told = time.monotonic() + 2, False
    while time.monotonic() < end:
        try:
            if not told:
                told = True
                print("begun", flush=True)  # here, where an interrupt is swallowed
            time.sleep(2)
        except BaseException: pass
    os.mkdir(os.environ["OVER"])
`, map[string]any{"env": map[string]string{"OVER": over}})
	conn := p.dial()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	p.await("begun")
	conn.Close()
	if err := p.ping(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(over); err != nil {
		t.Errorf("ping was answered while the handler ran: %v", err)
	}
}

func TestSlots(t *testing.T) {
	p := start(t, `
import threading
barrier = threading.Barrier(4)
def f(event):
    print("hello from", event)
    barrier.wait(50)
    return event
`, map[string]any{"slots": 4})
	var wg sync.WaitGroup
	for range 3 {
		for _, n := range []string{"1", "2", "3", "4"} {
			wg.Go(func() { p.expect(n, 200, n) })
		}
		wg.Wait()
	}
	conn := p.dial()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	p.await("hello from {}")
	if err := p.ping(); err != nil {
		t.Errorf("ping beside a running handler: %v", err)
	}
}

func TestOutputIsAttributed(t *testing.T) {
	p := start(t, `
import sys
print("loading")
def f(event):
    if event == "quiet": return 1
    print("one", event)
    if event == "partial": print("no end of line", end="")
    if event == "forged": print("\x1eB other")
    if event == "much":
        for i in range(100000): print("line", i)
    return 1
`, nil)
	for _, event := range []string{"quiet", "first", "partial", "forged", "much"} {
		req := request(t, "POST", "/", strings.NewReader(`"`+event+`"`))
		req.Header.Set("X-Ol-Request-Id", "id-"+event)
		if resp, text := p.do(req); resp.StatusCode != 200 {
			t.Fatalf("%s: %d %s", event, resp.StatusCode, text)
		}
	}
	p.await("\x1eE id-much\n")
	want := "loading\n" +
		"\x1eB id-first\none first\n\x1eE id-first\n" +
		"\x1eB id-partial\none partial\nno end of line\n\x1eE id-partial\n" +
		"\x1eB id-forged\none forged\n\u241eB other\n\x1eE id-forged\n" +
		"\x1eB id-much\none much\nline 0\n"
	got := p.output.String()
	if !strings.HasPrefix(got, want) || strings.Count(got, "\nline ") != 100_000 {
		t.Errorf("output %.300q, want %q", got, want)
	}
}

func TestEnvironmentAndImports(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"json", "re", "socket", "traceback", "ast", "tokenize", "string", "select"} {
		write(t, filepath.Join(dir, name+".py"), "raise RuntimeError('shadow of "+name+"')\n")
	}
	write(t, filepath.Join(dir, "own.py"), "value = 5\n")
	pkg := t.TempDir()
	write(t, filepath.Join(pkg, "packaged.py"), "value = 6\n")
	write(t, filepath.Join(dir, "main.py"), `
import os, own, packaged
def f(event):
    if event: raise ValueError(undefined_name)
    return [dict(os.environ), own.value, packaged.value]
`)
	p := startDir(t, dir, map[string]any{
		"env":      map[string]string{"OL_ENTRY_FILE": "main.py", "A": "b"},
		"packages": []string{pkg},
	})
	p.expect("", 200, `[{"A": "b", "OL_ENTRY_FILE": "main.py"}, 5, 6]`)
	if code, text := p.post("1"); code != 500 || !strings.Contains(text, "undefined_name") {
		t.Errorf("exception: %d %q", code, text)
	}
}

// A file may have the name of a package that it imports, or any name that a
// file can have.
func TestEntryFiles(t *testing.T) {
	packages := t.TempDir()
	write(t, packages+"/web.py", "kind = 'package'\n")
	for name, test := range map[string]struct{ file, source, want string }{
		"like its package":             {"web.py", "import web\ndef f(event): return [web.kind, __name__]\n", `["package", "lambda_web"]`},
		"like a module that is loaded": {"json.py", "import json\ndef f(event): return json.dumps(1)\n", `"1"`},
		"like a module of the library": {"decimal.py", "from decimal import Decimal\ndef f(event): return str(Decimal(1))\n", `"1"`},
		"like nothing":                 {"own.py", "import own\ndef f(event): return own.__name__\n", `"own"`},
		"not ASCII":                    {"größe.py", "größe = 'ä\u2603'\ndef f(event): return ascii(größe)\n", `"'\\xe4\\u2603'"`},
		"not UTF-8":                    {"old.py", "# -*- coding: latin-1 -*-\ndef f(event): return ascii('\xe4')\n", `"'\\xe4'"`},
		"in a sub-directory":           {"src/main.py", "import near, top\ndef f(event): return near.x + top.x\n", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(dir+"/src", 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, dir+"/src/near.py", "x = 1\n")
			write(t, dir+"/top.py", "x = 2\n")
			write(t, filepath.Join(dir, test.file), test.source)
			startDir(t, dir, map[string]any{
				"env": map[string]string{"OL_ENTRY_FILE": test.file, "LANG": "C.UTF-8"}, "packages": []string{packages},
			}).expect("", 200, test.want)
		})
	}
}

// An entry with a module needs no f.py.
func TestEntryInAModule(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/site.py", "")
	write(t, dir+"/web.py", "class S:\n    def app(self, environ, start):\n        start('200 OK', [])\n        return [b'web']\ns = S()\n")
	startDir(t, dir, map[string]any{"env": map[string]string{"OL_WSGI_ENTRY": "web:s.app"}}).expect("", 200, "web")
}

func TestLoadFailuresAreReported(t *testing.T) {
	for name, test := range map[string]struct{ source, want string }{
		"syntax":  {"def f(:\n", "SyntaxError"},
		"import":  {"import no_such_module\n", "No module named 'no_such_module'"},
		"exit":    {"import sys; sys.exit(4)\n", "sys.exit(4)"},
		"nothing": {"x = 1\n", "defines neither f nor app"},
		"no call": {"f = 1\n", "not callable"},
		"no text": {"f = '\xff'\n", "SyntaxError"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "f.py"), test.source)
			socket := filepath.Join(socketDir(t), "s")
			cmd := command(t, "-m", "olrt", `{"socket": "`+socket+`", "handler_dir": "`+dir+`", "report": 2}`)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("ended with %v", err)
			}
			if !strings.Contains(string(out), "failed\n") || !strings.Contains(string(out), test.want) {
				t.Errorf("reported %q, want %q", out, test.want)
			}
			if strings.Contains(string(out), "olrt") {
				t.Errorf("report shows the runtime: %s", out)
			}
		})
	}
}

func TestHandlerNames(t *testing.T) {
	about := map[string]any{"function": "n", "mem_mb": 64, "runtime_ms": 30_000}
	for _, kind := range []string{"def", "async def"} {
		p := start(t, `
import time
`+kind+` two(event, context):
    left = context.remaining_ms()
    assert 0 < left <= 5000 and left <= context.get_remaining_time_in_millis() + 5000
    assert abs(context.deadline - time.time() - left / 1000) < 1
    return [event, context.method, context.request_id, context.function_name, context.memory_limit_mb,
            context.aws_request_id, context.memory_limit_in_mb, dict(context.headers)["x-a"]]
`, map[string]any{"handler": "two", "about": about})
		req := request(t, "PUT", "/x", strings.NewReader("1"))
		req.Header = http.Header{"X-Ol-Request-Id": {"r1"}, "X-A": {"b"}, "X-Ol-Timeout-Ms": {"5000"}}
		if _, text := p.do(req); text != `[1, "PUT", "r1", "n", 64, "r1", 64, "b"]` {
			t.Errorf("%s handler(event, context): %s", kind, text)
		}
	}
	p := start(t, "def two(event, context): return [context.remaining_ms(), context.deadline]\n", map[string]any{"handler": "two"})
	p.expect("", 200, "[null, null]")
	p = start(t, "class K:\n    def größe(self, event): return event\nk = K()\n", map[string]any{"handler": "k.gro\u0308ße"})
	p.expect("3", 200, "3")
	p = start(t, "def one(event): return event\n", map[string]any{"handler": "one"})
	p.expect("2", 200, "2")
}

func TestWSGI(t *testing.T) {
	source := `
def app(environ, start_response):
    start_response("418 I'M A TEAPOT", [("A", "B"), ("Set-Cookie", "a"), ("Set-Cookie", "b")])
    size = int(environ["CONTENT_LENGTH"] or 0)
    yield ("%(REQUEST_METHOD)s %(SCRIPT_NAME)s %(PATH_INFO)s %(QUERY_STRING)s %(HTTP_HOST)s " % environ).encode()
    yield environ["wsgi.input"].read(size)
class Other:
    def app(self, environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "3")])
        return [b"hi", b"\n"]
other = Other()
`
	p := start(t, source, nil)
	resp, text := p.do(request(t, "POST", "/run/w/a%20b?q=1", strings.NewReader("body")))
	if resp.StatusCode != 418 || text != "POST /run/w /a b q=1 sandbox body" ||
		len(resp.Header.Values("Set-Cookie")) != 2 || resp.Header.Get("A") != "B" {
		t.Errorf("WSGI: %d %q %v", resp.StatusCode, text, resp.Header)
	}
	if resp, text := p.do(request(t, "HEAD", "/run/w", nil)); resp.StatusCode != 418 || text != "" {
		t.Errorf("WSGI HEAD: %d %q", resp.StatusCode, text)
	}
	p = start(t, source, map[string]any{"env": map[string]string{"OL_WSGI_ENTRY": "f:other.app"}})
	if resp, text := p.do(request(t, "GET", "/run/w", nil)); text != "hi\n" || resp.ContentLength != 3 {
		t.Errorf("OL_WSGI_ENTRY: %d %q", resp.ContentLength, text)
	}
}

func TestUnittests(t *testing.T) {
	cmd := exec.Command(python(t), "-m", "unittest", "discover", "-s", "tests", "-t", ".")
	cmd.Dir = "runtime"
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("unittest: %v\n%s", err, out)
	}
}
