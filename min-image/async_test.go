package minimage

import (
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

func TestCoroutines(t *testing.T) {
	p := start(t, `
import asyncio, contextlib
async def inner():
    for i in range(3):
        await asyncio.sleep(0)
        yield "item %d\n" % i
async def failing():
    yield b"first"
    raise ValueError("in the stream")
async def f(event):
    await asyncio.sleep(0.001)
    if event == "bytes": return b"\0"
    if event == "answer": return 418, {"A": "B"}, "hi\n"
    if event == "stream": return inner()
    if event == "headed": return 201, {"Content-Type": "text/x"}, inner()
    if event == "failing": return failing()
    if event == "value": raise ValueError("wrong")
    if event == "exit": raise SystemExit(3)
    if event == "cancel": raise asyncio.CancelledError()
    return event
`, nil)
	p.expect(`{"a": [1]}`, 200, `{"a": [1]}`)
	p.expect(`"bytes"`, 200, "\x00")
	p.expect(`"answer"`, 418, "hi\n")
	p.expect(`"stream"`, 200, "item 0\nitem 1\nitem 2\n")
	resp, text := p.do(request(t, "POST", "/", strings.NewReader(`"headed"`)))
	if resp.StatusCode != 201 || resp.Header.Get("Content-Type") != "text/x" || text != "item 0\nitem 1\nitem 2\n" {
		t.Errorf("headed stream: %d %v %q", resp.StatusCode, resp.Header, text)
	}
	for event, want := range map[string]string{"value": "ValueError: wrong", "exit": "sys.exit(3)", "cancel": "CancelledError"} {
		if code, got := p.post(`"` + event + `"`); code != 500 || !strings.Contains(got, want) || strings.Contains(got, "olrt") {
			t.Errorf("%s: %d %q", event, code, got)
		}
	}
	if code, _ := p.post("{"); code != 400 {
		t.Errorf("bad JSON: %d", code)
	}
	resp, err := p.client.Do(request(t, "POST", "/", strings.NewReader(`"failing"`)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("a stream that fails ends as if it were whole: %q", got)
	}
	resp.Body.Close()
	p.await("ValueError: in the stream")
	p.expect("1", 200, "1")
}

// Items go out as they are made: each waits for what the client does next.
func TestStreamsGoOutAsTheyAreMade(t *testing.T) {
	for name, source := range map[string]string{
		"generator": `
import os, time
def f(event):
    yield "one"
    while not os.path.exists(event): time.sleep(0.001)
    yield "two"
`,
		"coroutine": `
import asyncio, os
async def f(event):
    yield "one"
    while not os.path.exists(event): await asyncio.sleep(0.001)
    yield "two"
`,
		"asgi": `
import asyncio, json, os
async def app(scope, receive, send):
    path = json.loads((await receive())["body"])
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"one", "more_body": True})
    while not os.path.exists(path): await asyncio.sleep(0.001)
    await send({"type": "http.response.body", "body": b"two"})
`,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, source, nil)
			flag := t.TempDir() + "/go-on"
			resp, err := p.client.Do(request(t, "POST", "/", strings.NewReader(`"`+flag+`"`)))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			first := make([]byte, 3)
			if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "one" {
				t.Fatalf("first item %q, %v", first, err)
			}
			write(t, flag, "")
			rest, err := io.ReadAll(resp.Body)
			if err != nil || string(rest) != "two" {
				t.Errorf("rest %q, %v", rest, err)
			}
		})
	}
}

func TestDisconnectCancelsCoroutine(t *testing.T) {
	for name, source := range map[string]string{
		"function": `
async def slow():
    try: await asyncio.sleep(1000)
    finally: print("tidied", flush=True)
async def f(event):
    print("begun", flush=True)
    return 7 if event else await slow()
`,
		"generator": `
async def f(event):
    print("begun", flush=True)
    if event:
        yield 7
        return
    yield 1
    try: await asyncio.sleep(1000)
    finally: print("tidied", flush=True)
`,
		"asgi": `
async def app(scope, receive, send):
    if scope["type"] == "lifespan": raise RuntimeError("unknown")
    print("begun", flush=True)
    body = (await receive())["body"]
    try: await asyncio.sleep(0 if body else 1000)
    finally: print("tidied", flush=True)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"7\n"})
`,
		"asgi that listens": `
async def app(scope, receive, send):
    if scope["type"] == "lifespan": return
    print("begun", flush=True)
    body = (await receive())["body"]
    if not body:
        assert (await receive())["type"] == "http.disconnect"
        print("tidied", flush=True)
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"7\n"})
`,
	} {
		for _, slots := range []int{1, 2} {
			t.Run(name, func(t *testing.T) {
				p := start(t, "import asyncio\n"+source, map[string]any{"slots": slots})
				leave := callToLeave(t, p)
				p.await("begun")
				leave()
				p.await("tidied")
				if err := p.ping(); err != nil {
					t.Fatalf("ping after the client has gone: %v", err)
				}
				if code, got := p.post("1"); code != 200 || strings.TrimSpace(got) != "7" {
					t.Errorf("next request: %d %q", code, got)
				}
			})
		}
	}
}

func TestASGIScope(t *testing.T) {
	p := start(t, `
import json
class App:
    def __init__(self): self.started = 0
    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            assert (await receive())["type"] == "lifespan.startup"
            scope["state"]["db"] = "open"
            self.started += 1
            await send({"type": "lifespan.startup.complete"})
            await receive()
            raise AssertionError("a sandbox has no orderly end")
        told = {k: v for k, v in scope.items() if k in ("method", "path", "root_path", "scheme", "client", "server", "http_version", "state")}
        told["raw"] = scope["raw_path"].decode()
        told["query"] = scope["query_string"].decode()
        told["cookies"] = [v.decode() for k, v in scope["headers"] if k == b"cookie"]
        told["started"] = self.started
        body = b""
        while True:
            message = await receive()
            body += message["body"]
            if not message["more_body"]: break
        told["body"] = body.decode()
        await send({"type": "http.response.start", "status": 418, "headers": [[b"Set-Cookie", b"a"], [b"Set-Cookie", b"b"], [b"A", b"B"]]})
        await send({"type": "http.response.body", "body": json.dumps(told, sort_keys=True).encode()})
app = App()
`, nil)
	req := request(t, "PUT", "/run/n/a%20b/%C3%A9?q=%20", io.MultiReader(strings.NewReader("bo"), strings.NewReader("dy")))
	req.Host = "public.example:8443"
	req.Header = http.Header{"X-Forwarded-For": {"10.0.0.1, 10.0.0.2"}, "X-Forwarded-Proto": {"https"}, "Cookie": {"a=1", "b=2"}}
	resp, got := p.do(req)
	want := `{"body": "body", "client": ["10.0.0.2", 0], "cookies": ["a=1", "b=2"], "http_version": "1.1", "method": "PUT", ` +
		`"path": "/a b/\u00e9", "query": "q=%20", "raw": "/run/n/a%20b/%C3%A9", "root_path": "/run/n", "scheme": "https", ` +
		`"server": ["public.example", 8443], "started": 1, "state": {"db": "open"}}`
	if resp.StatusCode != 418 || len(resp.Header.Values("Set-Cookie")) != 2 || resp.Header.Get("A") != "B" || got != want {
		t.Errorf("ASGI: %d %v\n%s\nwant\n%s", resp.StatusCode, resp.Header, got, want)
	}
	if resp, got := p.do(request(t, "HEAD", "/run/n", nil)); resp.StatusCode != 418 || got != "" {
		t.Errorf("HEAD: %d %q", resp.StatusCode, got)
	}
}

// The body reaches the application while the client still writes it, and the
// answer begins before it has ended.
func TestASGIStreamsBothWays(t *testing.T) {
	for _, slots := range []int{1, 3} {
		p := start(t, `
async def app(scope, receive, send):
    if scope["type"] != "http": raise RuntimeError("unknown")
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        message = await receive()
        if message["type"] != "http.request": return
        await send({"type": "http.response.body", "body": message["body"].upper(), "more_body": message["more_body"]})
        if not message["more_body"]: return
`, map[string]any{"slots": slots})
		r, w := io.Pipe()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := io.WriteString(w, "one"); err != nil {
				t.Error(err)
			}
		})
		resp, err := p.client.Do(request(t, "POST", "/run/n", r))
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 3)
		for _, word := range []string{"one", "two", "six"} {
			if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != strings.ToUpper(word) {
				t.Fatalf("%q came back as %q, %v", word, buf, err)
			}
			next := map[string]string{"one": "two", "two": "six"}[word]
			if next == "" {
				break
			}
			wg.Go(func() {
				if _, err := io.WriteString(w, next); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		w.Close()
		if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
			t.Errorf("rest %q, %v", rest, err)
		}
		resp.Body.Close()
		large := strings.Repeat("x", 3<<20)
		if code, got := p.post(large); code != 200 || got != strings.ToUpper(large) {
			t.Errorf("large body: %d, %d bytes", code, len(got))
		}
	}
}

func TestASGIBehaviour(t *testing.T) {
	p := start(t, `
import asyncio
async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        return
    path = scope["path"]
    async def start(*headers): await send({"type": "http.response.start", "status": 200, "headers": headers})
    async def body(data=b"", more=False): await send({"type": "http.response.body", "body": data, "more_body": more})
    if path == "/raises": raise ValueError("before the answer")
    if path == "/nothing": return
    if path == "/only-start": return await start()
    if path == "/body-first": return await body(b"x")
    if path == "/unread": await start(); return await body(b"early")
    if path == "/late-error":
        await start(); await body(b"whole"); raise ValueError("after the answer")
    if path == "/background":
        await start(); await body(b"whole"); await asyncio.sleep(0.05); print("background done", flush=True); return
    if path == "/cut":
        await start(); await body(b"part", True); return
    if path == "/two":
        await start((b"content-length", b"4")); await body(b"ab", True); await body(b"cd"); return
    if path == "/thread":
        result = await asyncio.get_running_loop().run_in_executor(None, lambda: b"threaded")
        await start(); return await body(result)
`, nil)
	get := func(path, body string) (int, string, error) {
		resp, err := p.client.Do(request(t, "POST", "/run/n"+path, strings.NewReader(body)))
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text), err
	}
	for _, test := range []struct {
		path, want string
		code       int
	}{
		{"/raises", "ValueError: before the answer", 500},
		{"/nothing", "without an answer", 500},
		{"/only-start", "without an answer", 500},
		{"/body-first", "before http.response.start", 500},
		{"/unread", "early", 200},
		{"/late-error", "whole", 200},
		{"/background", "whole", 200},
		{"/two", "abcd", 200},
		{"/thread", "threaded", 200},
	} {
		for _, body := range []string{"", strings.Repeat("unread", 200_000)} {
			code, text, err := get(test.path, body)
			if err != nil || code != test.code || !strings.Contains(text, test.want) {
				t.Errorf("%s with %d bytes: %d %q, %v", test.path, len(body), code, text, err)
			}
		}
	}
	if code, text, err := get("/cut", ""); err == nil {
		t.Errorf("an answer that was cut short looks whole: %d %q", code, text)
	}
	p.await("background done")
	p.await("ValueError: after the answer")
	if code, text, err := get("/two", ""); err != nil || code != 200 || text != "abcd" {
		t.Errorf("after all that: %d %q, %v", code, text, err)
	}
}

// Requests that run at once meet on the one loop, and what each prints is its own.
func TestASGISlots(t *testing.T) {
	p := start(t, `
import asyncio
here, met = 0, None
async def app(scope, receive, send):
    global here, met
    if scope["type"] != "http": return
    name = dict(scope["headers"])[b"x-ol-request-id"].decode()
    print("before", name)
    met = met or asyncio.Event()
    here += 1
    if here == 3: met.set()
    await asyncio.wait_for(met.wait(), 50)
    print("after", name)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": name.encode()})
`, map[string]any{"slots": 3})
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		wg.Go(func() {
			req := request(t, "GET", "/run/n", nil)
			req.Header.Set("X-Ol-Request-Id", name)
			if resp, text := p.do(req); resp.StatusCode != 200 || text != name {
				t.Errorf("%s: %d %q", name, resp.StatusCode, text)
			}
		})
	}
	wg.Wait()
	for _, name := range []string{"a", "b", "c"} {
		for _, line := range []string{"before ", "after "} {
			p.await("\x1eB " + name + "\n" + line + name + "\n")
		}
	}
}

func TestASGIStartThatFails(t *testing.T) {
	out := failedLoad(t, `
async def app(scope, receive, send):
    await receive()
    await send({"type": "lifespan.startup.failed", "message": "no database"})
`)
	if !strings.Contains(out, "failed\n") || !strings.Contains(out, "no database") {
		t.Errorf("report %q", out)
	}
}

// Coroutines cost only those who use them.
func TestPlainLambdasDoNotImportAsyncio(t *testing.T) {
	for _, source := range []string{
		"import sys\ndef f(event): return 'asyncio' in sys.modules\n",
		"import sys\ndef app(environ, start):\n    start('200 OK', [])\n    return [str('asyncio' in sys.modules).lower().encode()]\n",
	} {
		start(t, source, nil).expect("", 200, "false")
	}
}

func TestASGIEntry(t *testing.T) {
	source := `
async def other(scope, receive, send):
    if scope["type"] != "http": return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"asgi"})
def wsgi(environ, start):
    start("200 OK", [])
    return [b"wsgi"]
def named(event, context): return "handler"
def f(event): return "f"
`
	both := map[string]string{"OL_ASGI_ENTRY": "other", "OL_WSGI_ENTRY": "f:wsgi"}
	start(t, source, map[string]any{"env": both, "handler": "named"}).expect("", 200, `"handler"`)
	start(t, source, map[string]any{"env": both}).expect("", 200, "wsgi")
	delete(both, "OL_WSGI_ENTRY")
	start(t, source, map[string]any{"env": both}).expect("", 200, "asgi")
	start(t, source, nil).expect("", 200, `"f"`)
}

// failedLoad runs a lambda that cannot be loaded and returns what is reported.
func failedLoad(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir+"/f.py", source)
	cmd := command(t, "-m", "olrt", `{"socket": "`+socketDir(t)+`/s", "handler_dir": "`+dir+`", "report": 2}`)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("ended with %v", err)
	}
	return string(out)
}
