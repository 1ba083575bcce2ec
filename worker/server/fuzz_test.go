package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/wire"
	"github.com/open-lambda/open-lambda/worker/dispatch"
)

// script is a connection whose other end has said all it will say. It needs no
// time.
type script struct {
	in     *bytes.Reader
	closed chan struct{}

	mu  sync.Mutex
	out bytes.Buffer

	close sync.Once
}

func newScript(in []byte) *script {
	return &script{in: bytes.NewReader(in), closed: make(chan struct{})}
}

func (s *script) Read(p []byte) (int, error) { return s.in.Read(p) }

func (s *script) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *script) Close() error {
	s.close.Do(func() { close(s.closed) })
	return nil
}

func (s *script) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5000} }

func (s *script) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 9} }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// once is a listener for one connection.
type once struct {
	conns chan net.Conn
	end   chan struct{}
}

func (l *once) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.end:
		return nil, net.ErrClosed
	}
}
func (l *once) Close() error   { return nil }
func (l *once) Addr() net.Addr { return &net.TCPAddr{} }

// answers is what the worker's HTTP server, with a handler, answers to a
// client that sends those bytes and no more.
func answers(h http.HandlerFunc, in []byte) []byte {
	c := newScript(in)
	l := &once{conns: make(chan net.Conn, 1), end: make(chan struct{})}
	l.conns <- c
	s := HTTP(h, slog.New(slog.DiscardHandler))
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) }) // its error is the end of the listener
	<-c.closed
	close(l.end)
	wg.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Bytes()
}

// id is the platform's own for a request.
const id = "0198c5f0-0000-7000-8000-000000000000"

// forwarded is one request as it came and as it went on.
type forwarded struct {
	in   *http.Request
	body []byte
	sent []byte
}

// pass sends each request of a client's bytes on, as to a sandbox.
func pass(t *testing.T, in []byte) []forwarded {
	var all []forwarded
	s := &Server{cfg: Config{MaxBody: 1 << 20}}
	answers(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{server: s, w: w, in: r, id: id}
		if !strings.HasPrefix(r.URL.Path, api.PathRun) || x.readBody(s.cfg.MaxBody) != nil {
			return
		}
		out, ok := x.Request(r.Context(), &dispatch.Grant{})
		if !ok {
			t.Error("a request that was not sent cannot be sent")
			return
		}
		var sent bytes.Buffer
		if err := out.Write(&sent); err != nil {
			t.Errorf("write request: %v", err)
		}
		all = append(all, forwarded{r, x.head, sent.Bytes()})
	}, in)
	return all
}

// Whatever a client sends: what goes to the sandbox is that one request and no
// other, for the runtime as well as for net/http, without what is the platform's.
func FuzzForward(f *testing.F) {
	for _, seed := range []string{
		"GET /run/f HTTP/1.1\r\nHost: h\r\n\r\n", "POST /run/f/a%2Fb?x=%00&y HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}",
		"POST /run/f HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\nT: x\r\n\r\nGET /run/g HTTP/1.1\r\nHost: h\r\n\r\n",
		"POST /run/f HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /run/x HTTP/1.1\r\n\r\n",
		"GET http://other/run/f HTTP/1.1\r\nHost: h\r\n\r\n", "GET /run/f HTTP/1.0\r\n\r\n", "GET //run/f HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET /run/f HTTP/1.1\r\nHost: h\r\nConnection: X-Ol-Request-Id, close\r\nUpgrade: websocket\r\nX-Ol-Token: t\r\nX-Ol-Request-Id: 1\r\n\r\n",
		"GET /run/f HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n", "GET /run/f HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", "GET /run/f HTTP/1.1\nHost: h\n\n",
		"M!#$%&'*+-.^_`|~ /run/f HTTP/1.1\r\nHost: h\r\nA: \xff\x80\t\r\n\r\n", "POST /run/f HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
		"GET /run/\xc3\xa9?\xe9 HTTP/1.1\r\nHost: h\r\n\r\n", "GET /run/f?a b HTTP/1.1\r\nHost: h\r\n\r\n", "GET /run/f HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"POST /run/f HTTP/1.1\r\nHost: h\r\nContent-Length: +2\r\n\r\n{}", "POST /run/f HTTP/1.1\r\nHost: h\r\nTrailer: A\r\nTe: trailers\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	rt := startReader(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, x := range pass(t, in) {
			x.checkPlain(t)
			x.checkRuntime(t, rt.read(t, x.sent))
		}
	})
}

// checkPlain reads what was sent as net/http does.
func (x *forwarded) checkPlain(t *testing.T) {
	t.Helper()
	rest := bufio.NewReader(bytes.NewReader(x.sent))
	got, err := http.ReadRequest(rest)
	if err != nil {
		t.Fatalf("%q is no request: %v", x.sent, err)
	}
	body, err := io.ReadAll(got.Body)
	if err != nil || !bytes.Equal(body, x.body) {
		t.Errorf("body %q of %q, %v", body, x.body, err)
	}
	if got.Method != x.in.Method || got.URL.Path != x.in.URL.Path || got.URL.RawQuery != x.in.URL.RawQuery {
		t.Errorf("%s %s came, %s %s went on", x.in.Method, x.in.URL, got.Method, got.URL)
	}
	if rest.Buffered() > 0 {
		t.Errorf("%q holds more than one request", x.sent)
	}
	for name := range got.Header {
		if hopByHop(name) && name != "Transfer-Encoding" || name == api.HeaderToken || name == api.HeaderStamp || name == "Expect" {
			t.Errorf("header %s goes on", name)
		}
	}
	if ids := got.Header[api.HeaderRequestID]; !slices.Equal(ids, []string{id}) {
		t.Errorf("ids %q", ids)
	}
	if from := got.Header["X-Forwarded-For"]; len(from) != 1 || !strings.HasSuffix(from[0], "192.0.2.1") {
		t.Errorf("from %q", from)
	}
}

// checkRuntime compares with how the runtime has read it. That may refuse.
func (x *forwarded) checkRuntime(t *testing.T, got reading) {
	t.Helper()
	if got.Refused != "" {
		t.Fatalf("the runtime refuses %q: %s", x.sent, got.Refused)
	}
	_, rest, _ := bytes.Cut(x.sent, []byte(" "))
	target, _, _ := bytes.Cut(rest, []byte(" "))
	if got.Requests != 1 || got.Left != 0 || got.Method != x.in.Method || !bytes.Equal(got.Target, target) || !bytes.Equal(got.Body, x.body) || got.ID != id {
		t.Errorf("the runtime reads %q as %+v", x.sent, got)
	}
}

// relay answers a client with what a sandbox says. whole tells that the
// worker took the sandbox' answer for complete.
func relay(client, sandbox []byte) (out []byte, whole bool) {
	s := &Server{cfg: Config{Worker: "w", MaxBody: 1 << 20}}
	out = answers(func(w http.ResponseWriter, r *http.Request) {
		tr := wire.New(func(context.Context) (net.Conn, error) { return newScript(sandbox), nil })
		defer tr.Close()
		x := &exchange{server: s, w: w, in: r, id: id}
		g := &dispatch.Grant{Sandbox: "s"}
		req, _ := x.Request(context.WithoutCancel(r.Context()), g)
		resp, err := tr.RoundTrip(req)
		if err == nil {
			err = errors.Join(x.Answer(resp, g), resp.Body.Close())
		}
		switch {
		case err == nil:
			whole = true
		case x.begun:
			panic(http.ErrAbortHandler) // as run does
		default:
			w.WriteHeader(http.StatusBadGateway)
		}
	}, client)
	return out, whole
}

// Whatever a sandbox answers: the client gets that one answer, or learns that
// it is not whole; what the platform says in it, the platform has said.
func FuzzRelay(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\n\r\nuntil the end", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Ol-Not-Started\r\n\r\n2\r\nok\r\n0\r\nX-Ol-Not-Started: true\r\n\r\n",
		"HTTP/1.1 503 No\r\nX-Ol-Not-Started: true\r\nX-Ol-Start: warm\r\nX-Ol-Worker: other\r\nX-Ol-Request-Id: other\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nConnection: X-Ol-Start, Content-Length\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"HTTP/1.1 999 ?\r\nContent-Type: \r\nDate: never\r\nContent-Length: 1\r\n\r\nx", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nx", "", "HTTP/1.1 205 Reset\r\nContent-Length: 3\r\n\r\nabc",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, sandbox []byte, head bool) {
		method := http.MethodGet
		if head {
			method = http.MethodHead
		}
		out, whole := relay([]byte(method+" /run/f HTTP/1.1\r\nHost: h\r\n\r\n"), sandbox)
		rest := bufio.NewReader(bytes.NewReader(out))
		got, err := http.ReadResponse(rest, &http.Request{Method: method})
		if err != nil {
			if whole {
				t.Fatalf("%q is no answer: %v", out, err)
			}
			return
		}
		body, err := io.ReadAll(got.Body)
		if whole == (err != nil) && got.StatusCode != http.StatusBadGateway && !head {
			t.Errorf("whole is %v: %q %v", whole, body, err)
		}
		if whole {
			checkAnswer(t, got, body, method, sandbox)
		}
		if rest.Buffered() > 0 {
			t.Errorf("%q is more than one answer", out)
		}
	})
}

// checkAnswer compares an answer with what net/http reads from the sandbox.
func checkAnswer(t *testing.T, got *http.Response, body []byte, method string, sandbox []byte) {
	t.Helper()
	r := bufio.NewReader(bytes.NewReader(sandbox))
	want, err := http.ReadResponse(r, &http.Request{Method: method})
	for err == nil && want.StatusCode < http.StatusOK {
		want, err = http.ReadResponse(r, &http.Request{Method: method})
	}
	if err != nil {
		t.Fatalf("%q is answered: %v", sandbox, err)
	}
	said, err := io.ReadAll(want.Body)
	if err != nil || got.StatusCode != want.StatusCode || !bytes.Equal(body, said) {
		t.Errorf("%d %q became %d %q, %v", want.StatusCode, said, got.StatusCode, body, err)
	}
	h := got.Header
	if !slices.Equal(h[api.HeaderStart], []string{dispatch.Grant{}.Start.String()}) || !slices.Equal(h[api.HeaderWorker], []string{"w"}) ||
		!slices.Equal(h[api.HeaderRequestID], []string{id}) || h[api.HeaderNotStarted] != nil || len(h[api.HeaderTiming]) == 0 {
		t.Errorf("header %v", h)
	}
	if h["Upgrade"] != nil || h["Proxy-Authenticate"] != nil || h["Keep-Alive"] != nil {
		t.Errorf("header of one connection in %v", h)
	}
}
