package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
)

func TestAnswerHeaders(t *testing.T) {
	n := newNode(t, lambdas{"hello": hello}, nil, nil)
	timing := regexp.MustCompile(`^queue;dur=\d+\.\d+, init;dur=\d+\.\d+, exec;dur=\d+\.\d+$`)
	for _, kind := range []string{"cold", "warm"} {
		r := n.get("/run/hello")
		n.expect(r, 200, "hello")
		id, err := uuid.Parse(r.header.Get(api.HeaderRequestID))
		if err != nil || id.Version() != 7 {
			t.Errorf("request id %q: %v", r.header.Get(api.HeaderRequestID), err)
		}
		if r.header.Get(api.HeaderStart) != kind || r.header.Get(api.HeaderWorker) != "w1" || !timing.MatchString(r.header.Get(api.HeaderTiming)) {
			t.Errorf("%s: %v", kind, r.header)
		}
	}
	const id = "01890a5d-ac96-774b-bcce-b302099a8057"
	if r := n.get("/run/hello", api.HeaderRequestID, id); r.header.Get(api.HeaderRequestID) != id {
		t.Errorf("the id that came with the request was replaced: %v", r.header)
	}
}

func TestStatuses(t *testing.T) {
	n := newNode(t, lambdas{
		"hello": hello, "posts": hello, "never": hello,
		"slow":   func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"broken": hello,
	}, map[string]string{
		"posts": "triggers: {http: [{method: GET}, {method: POST}]}", "never": "triggers: {http: []}",
		"slow": "limits: {runtime_sec: 1}", "broken": "limits: {mem_mb: none}",
	}, func(c *config.Config) { c.MaxBodyMB = 1 })
	n.expect(n.get("/run/nobody"), 404, "no such lambda")
	n.expect(n.get("/run/"), 400, "bad lambda name")
	n.expect(n.get("/run/.."), 400, "bad lambda name")
	n.expect(n.get("/run/a%20b"), 400, "bad lambda name")
	n.expect(n.get("/run/broken"), 500, `\"limits.mem_mb\" must be a whole number`)
	n.expect(n.get("/nothing"), 404, "there is nothing at /nothing")
	r := n.do("PUT", "/run/posts", strings.NewReader("x"))
	n.expect(r, 405, "HTTP method not allowed. Sent: PUT, Allowed: [GET POST]")
	if r.header.Get("Allow") != "GET, POST" || r.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("got %v", r.header)
	}
	n.expect(n.do("POST", "/run/posts", nil), 200, "hello")
	n.expect(n.get("/run/never"), 405, "Allowed: []")
	n.expect(n.do("POST", "/run/hello", strings.NewReader(strings.Repeat("x", 1<<20+1))), 413, "more than 1 MB")
	n.expect(n.do("POST", "/run/hello", io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<20+1)))), 413, "more than 1 MB")
	n.expect(n.get("/run/slow"), 504, "limit of 1s")
	r = n.get("/run/nobody", "Accept", "text/plain")
	if r.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("got %v", r.header)
	}
	var p api.Problem
	if err := json.Unmarshal([]byte(n.get("/run/nobody").body), &p); err != nil || p.Status != 404 || p.RequestID == "" || p.Reason != "unknown-lambda" {
		t.Errorf("got %+v, %v", p, err)
	}
}

// A lambda that asks for more than the worker gives to anybody is refused when it
// is uploaded, and not run if it came to the registry otherwise.
func TestLimitsAboveTheWorkers(t *testing.T) {
	n := newNode(t, lambdas{"greedy": hello, "large": hello, "more": hello}, map[string]string{
		"greedy": "limits: {procs: 5000}", "large": "limits: {procs: 200}",
	}, func(c *config.Config) { c.LimitsMax.Procs = 200 })
	n.expect(n.get("/run/large"), 200, "hello")
	r := n.get("/run/greedy")
	n.expect(r, 500, "limits.procs is 5000, and lambdas of this worker may have at most 200: lower it, or start the worker with -o limits_max.procs=5000")
	if !strings.Contains(r.body, `"reason":"broken-lambda"`) {
		t.Errorf("got %s", r.body)
	}
	r = n.do("POST", "/registry/more", pack(t, "f.py", "x", "ol.yaml", "limits: {procs: 201}"))
	n.expect(r, 400, "-o limits_max.procs=201")
	n.expect(n.do("POST", "/registry/more", pack(t, "f.py", "x", "ol.yaml", "limits: {procs: 200}")), 201, "")
}

func TestSandboxDiesMidRequest(t *testing.T) {
	var n *node
	n = newNode(t, lambdas{
		"dies": func(_ http.ResponseWriter, r *http.Request) {
			for _, s := range n.provider.Live() {
				s.Die("out of memory")
			}
			<-r.Context().Done()
		},
		"half": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "first half")
			w.(http.Flusher).Flush()
			for _, s := range n.provider.Live() {
				s.Die("exit code 3")
			}
			<-r.Context().Done()
		},
	}, nil, nil)
	r := n.get("/run/dies")
	n.expect(r, 502, "out of memory")
	if !strings.Contains(r.body, `"reason":"out-of-memory"`) {
		t.Errorf("got %s", r.body)
	}
	if r.header.Get(api.HeaderStart) != "cold" || !strings.HasPrefix(r.header.Get(api.HeaderTiming), "queue;dur=") {
		t.Errorf("a request that had a sandbox says how: %v", r.header)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", n.url+"/run/half", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := n.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err == nil || string(b) != "first half" {
		t.Errorf("an answer that broke off must look so: %q, %v", b, err)
	}
}

func TestLimitsGive429And503(t *testing.T) {
	started, release := make(chan struct{}, 1), make(chan struct{})
	n := newNode(t, lambdas{"busy": func(w http.ResponseWriter, r *http.Request) {
		started <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
		hello(w, r)
	}}, map[string]string{"busy": "max_sandboxes: 1"}, func(c *config.Config) { c.QueueLimit, c.QueueTimeoutMS = 1, 1500 })
	codes := make(chan reply, 4)
	var wg sync.WaitGroup
	wg.Go(func() { codes <- n.get("/run/busy") })
	<-started
	for range 3 {
		wg.Go(func() { codes <- n.get("/run/busy") })
	}
	first := <-codes // those that the queue refuses answer at once
	second := <-codes
	third := <-codes // the one that waited
	close(release)
	wg.Wait()
	last := <-codes
	for _, r := range []reply{first, second} {
		n.expect(r, 429, "queue of the lambda is full")
	}
	n.expect(third, 503, "no sandbox came free in time")
	n.expect(last, 200, "hello")
	if first.header.Get("Retry-After") == "" || third.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestPassesRequestsUntouched(t *testing.T) {
	seen := make(chan *http.Request, 1)
	n := newNode(t, lambdas{"see": func(w http.ResponseWriter, r *http.Request) {
		seen <- r
		hello(w, r)
	}}, nil, nil)
	n.get("/run/see/a%2Fb//c/../d?x=1&y=%20", "X-A", "1", "X-A", "2", "Traceparent", "00-aa-bb-01",
		"Connection", "X-Drop, keep-alive", "X-Drop", "1", "Te", "trailers", "X-Forwarded-For", "9.9.9.9")
	r := <-seen
	if got := r.URL.EscapedPath() + "?" + r.URL.RawQuery; got != "/run/see/a%2Fb//c/../d?x=1&y=%20" {
		t.Errorf("path %s", got)
	}
	if d := cmp.Diff([]string{"1", "2"}, r.Header["X-A"]); d != "" || r.Header.Get("Traceparent") != "00-aa-bb-01" {
		t.Errorf("header %v", r.Header)
	}
	for _, h := range []string{"Connection", "X-Drop", "Te"} {
		if _, ok := r.Header[h]; ok {
			t.Errorf("%s reached the lambda", h)
		}
	}
	if r.Host != n.Addr().String() || r.Header.Get("X-Forwarded-For") != "9.9.9.9, 127.0.0.1" ||
		r.Header.Get("X-Forwarded-Host") != r.Host || r.Header.Get("X-Forwarded-Proto") != "http" {
		t.Errorf("host %s, header %v", r.Host, r.Header)
	}
	n.do("POST", "/run/see", io.MultiReader(strings.NewReader("chunked")))
	if r = <-seen; r.ContentLength != 7 {
		t.Errorf("chunked body: length %d", r.ContentLength)
	}
}

func TestBodies(t *testing.T) {
	n := newNode(t, lambdas{"echo": echo}, nil, nil)
	big := strings.Repeat("0123456789abcdef", 256<<10) // 4 MB: streamed
	for _, body := range []string{"", "small", strings.Repeat("x", 1<<20), big} {
		for _, chunked := range []bool{false, true} {
			var rd io.Reader = strings.NewReader(body)
			if chunked {
				rd = io.MultiReader(rd)
			}
			if r := n.do("POST", "/run/echo", rd); r.status != 200 || r.body != body {
				t.Errorf("%d bytes, chunked %v: got %d, %d bytes", len(body), chunked, r.status, len(r.body))
			}
		}
	}
}

func TestPassesAnswersUntouched(t *testing.T) {
	n := newNode(t, lambdas{
		"teapot": func(w http.ResponseWriter, _ *http.Request) {
			h := w.Header()
			h.Add("Set-Cookie", "a=1")
			h.Add("Set-Cookie", "b=2")
			h.Set("Server-Timing", "db;dur=1")
			h.Set("Connection", "X-Hop")
			h.Set("X-Hop", "1")
			h.Set("Keep-Alive", "5")
			h.Set("Content-Length", "3")
			w.WriteHeader(418)
			_, _ = io.WriteString(w, "tea")
		},
		"moved": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(302)
		},
		"empty": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
	}, nil, nil)
	r := n.get("/run/teapot")
	n.expect(r, 418, "tea")
	if d := cmp.Diff([]string{"a=1", "b=2"}, r.header["Set-Cookie"]); d != "" {
		t.Error(d)
	}
	if len(r.header["Server-Timing"]) != 2 || r.header.Get("X-Hop") != "" || r.header.Get("Keep-Alive") != "" || r.header.Get("Content-Type") != "" {
		t.Errorf("header %v", r.header)
	}
	if r := n.get("/run/moved"); r.status != 302 || r.header.Get("Location") != "/elsewhere" {
		t.Errorf("got %+v", r)
	}
	if r := n.get("/run/empty"); r.status != 204 || r.body != "" {
		t.Errorf("got %+v", r)
	}
	if r := n.do("HEAD", "/run/teapot", nil); r.status != 418 || r.body != "" || r.header.Get("Content-Length") != "3" {
		t.Errorf("HEAD: got %+v", r)
	}
}

func TestStreams(t *testing.T) {
	next := make(chan struct{})
	n := newNode(t, lambdas{"stream": func(w http.ResponseWriter, r *http.Request) {
		for i := range 3 {
			fmt.Fprintf(w, "line %d\n", i)
			w.(http.Flusher).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
				return
			}
		}
	}}, nil, nil)
	req, err := http.NewRequestWithContext(t.Context(), "GET", n.url+"/run/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := n.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b := bufio.NewReader(resp.Body)
	for i := range 3 {
		if line, err := b.ReadString('\n'); err != nil || line != fmt.Sprintf("line %d\n", i) {
			t.Fatalf("got %q, %v", line, err)
		}
		next <- struct{}{} // the lambda waits until its line has arrived
	}
}

func TestClientGone(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	n := newNode(t, lambdas{"wait": func(_ http.ResponseWriter, r *http.Request) {
		close(started)
		<-r.Context().Done()
		close(ended)
	}}, nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		req, err := http.NewRequestWithContext(ctx, "POST", n.url+"/run/wait", strings.NewReader("{}"))
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := n.client.Do(req)
		if err == nil {
			resp.Body.Close()
			t.Error("the request was answered")
		}
	})
	<-started
	cancel()
	<-ended // else the test times out
	wg.Wait()
}

func TestMalformedRequests(t *testing.T) {
	n := newNode(t, lambdas{"echo": echo}, nil, nil)
	for _, raw := range []string{
		"GET\r\n\r\n", "GET /run/echo HTTP/9.9\r\n\r\n", "POST /run/echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"POST /run/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "GET /run/echo HTTP/1.1\r\n\r\n",
		"POST /run/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nContent-Length: 11\r\n\r\n", "\x00\x01\x02\r\n\r\n",
	} {
		c, err := net.Dial("tcp", n.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, raw); err != nil {
			t.Error(err)
		}
		_ = c.(*net.TCPConn).CloseWrite() // some servers answer at once
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		b, _ := io.ReadAll(c) // a reset is an answer too
		if len(b) > 0 && !strings.HasPrefix(string(b), "HTTP/1.1 4") && !strings.HasPrefix(string(b), "HTTP/1.1 505") {
			t.Errorf("%q: got %q", raw, b)
		}
		c.Close()
	}
	n.expect(n.do("POST", "/run/echo", strings.NewReader("fine")), 200, "fine")
}

func TestManyClients(t *testing.T) {
	var running, most atomic.Int32
	n := newNode(t, lambdas{"echo": func(w http.ResponseWriter, r *http.Request) {
		for c := running.Add(1); ; {
			m := most.Load()
			if c <= m || most.CompareAndSwap(m, c) {
				break
			}
		}
		defer running.Add(-1)
		echo(w, r)
	}}, map[string]string{"echo": "max_sandboxes: 5"}, nil)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 50 {
				body := fmt.Sprint(i, "/", j)
				if r := n.do("POST", "/run/echo", strings.NewReader(body)); r.status != 200 || r.body != body {
					t.Errorf("sent %s, got %d %s", body, r.status, r.body)
				}
			}
		})
	}
	wg.Wait()
	if most.Load() > 5 {
		t.Errorf("%d requests ran at once in 5 sandboxes", most.Load())
	}
}
