package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a server on a unix socket and returns a dialer that counts.
func serve(tb testing.TB, h http.HandlerFunc) (dial func(context.Context) (net.Conn, error), dials *int) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		tb.Fatal(err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) }) // ends by Close
	tb.Cleanup(func() {
		// Not Close: it would leave goroutines of connections behind.
		if err := s.Shutdown(context.Background()); err != nil {
			tb.Error(err)
		}
		wg.Wait()
	})
	dials = new(int)
	return func(ctx context.Context) (net.Conn, error) {
		*dials++
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}, dials
}

func open(tb testing.TB, dial func(context.Context) (net.Conn, error)) *Transport {
	tb.Helper()
	t := New(dial)
	tb.Cleanup(func() {
		if err := t.Close(); err != nil {
			tb.Error(err)
		}
	})
	return t
}

func request(tb testing.TB, ctx context.Context, method string, body io.Reader) *http.Request { //nolint:revive // tb first, as in tests
	tb.Helper()
	if body == nil {
		body = http.NoBody
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://sandbox/run/f?x=1", body)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// echo reads everything before it answers: net/http's server does not read
// on once it has begun to write.
func echo(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = w.Write(b)
}

func TestSequenceOnOneConnection(t *testing.T) {
	dial, dials := serve(t, echo)
	tr := open(t, dial)
	big := strings.Repeat("0123456789abcdef", 1<<16)
	for _, text := range []string{"", "a", strings.Repeat("b", smallBody), big} {
		for _, chunked := range []bool{false, true} {
			var rd io.Reader = strings.NewReader(text)
			if chunked {
				rd = io.MultiReader(rd)
			}
			resp, err := tr.RoundTrip(request(t, t.Context(), "POST", rd))
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			if err != nil || string(b) != text || resp.Body.Close() != nil {
				t.Errorf("%d bytes, chunked %v: got %d bytes, %v", len(text), chunked, len(b), err)
			}
		}
	}
	resp, err := tr.RoundTrip(request(t, t.Context(), "HEAD", nil))
	if err != nil || resp.StatusCode != 200 {
		t.Errorf("got %v, %v", resp, err)
	}
	if *dials > 3 { // a writer of a large body may end just after its answer
		t.Errorf("%d connections for 9 requests in sequence", *dials)
	}
}

func TestNeverSentTwice(t *testing.T) {
	var calls atomic.Int32
	dial, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) > 1 {
			panic(http.ErrAbortHandler) // breaks the kept connection with the request seen
		}
		echo(w, r)
	})
	tr := open(t, dial)
	resp, err := tr.RoundTrip(request(t, t.Context(), "GET", nil))
	if err != nil || resp.Body.Close() != nil {
		t.Fatal(err)
	}
	_, err = tr.RoundTrip(request(t, t.Context(), "GET", nil))
	if err == nil || errors.Is(err, ErrNotSent) || calls.Load() != 2 {
		t.Errorf("got %v after %d calls", err, calls.Load())
	}
}

func TestNotSent(t *testing.T) {
	tr := open(t, func(context.Context) (net.Conn, error) { return nil, errors.New("refused") })
	if _, err := tr.RoundTrip(request(t, t.Context(), "GET", nil)); !errors.Is(err, ErrNotSent) {
		t.Errorf("got %v", err)
	}
	a, b := net.Pipe()
	tr = open(t, func(context.Context) (net.Conn, error) { return a, nil })
	b.Close()
	if _, err := tr.RoundTrip(request(t, t.Context(), "GET", nil)); !errors.Is(err, ErrNotSent) {
		t.Errorf("got %v", err)
	}
}

func TestContextBreaksConnection(t *testing.T) {
	seen, gone := make(chan struct{}), make(chan struct{})
	dial, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(seen)
		<-r.Context().Done()
		close(gone)
	})
	tr := open(t, dial)
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		<-seen
		cancel(why)
	})
	if _, err := tr.RoundTrip(request(t, ctx, "GET", nil)); !errors.Is(err, why) || errors.Is(err, ErrNotSent) {
		t.Errorf("got %v", err)
	}
	<-gone
	wg.Wait()
}

func TestCloseBeforeEndBreaksConnection(t *testing.T) {
	gone := make(chan struct{})
	dial, dials := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			echo(w, r)
			return
		}
		_, _ = io.WriteString(w, "begin")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	tr := open(t, dial)
	resp, err := tr.RoundTrip(request(t, t.Context(), "GET", nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	<-gone
	resp, err = tr.RoundTrip(request(t, t.Context(), "POST", strings.NewReader("x")))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "x" || *dials != 2 {
		t.Errorf("got %q, %v on connection %d", b, err, *dials)
	}
}

func TestEarlyAnswerToLargeBody(t *testing.T) {
	dial, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) })
	tr := open(t, dial)
	resp, err := tr.RoundTrip(request(t, t.Context(), "POST", bytes.NewReader(make([]byte, 8<<20))))
	if err != nil {
		// The server may close before it has read everything, and the reset
		// may overtake its answer; what matters is that nothing hangs.
		t.Skipf("the answer was lost to a reset: %v", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 413 {
		t.Errorf("got %d", resp.StatusCode)
	}
}

func TestGarbageIsAnError(t *testing.T) {
	for _, answer := range []string{"garbage\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "", "HTTP/1.1 200"} {
		a, b := net.Pipe()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _ = b.Read(make([]byte, 4096)) // the request
			_, _ = io.WriteString(b, answer)
			b.Close()
		})
		tr := open(t, func(context.Context) (net.Conn, error) { return a, nil })
		if _, err := tr.RoundTrip(request(t, t.Context(), "GET", nil)); err == nil || errors.Is(err, ErrNotSent) {
			t.Errorf("%q: got %v", answer, err)
		}
		wg.Wait()
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	dial, _ := serve(b, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	std := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
	defer std.CloseIdleConnections()
	for name, rt := range map[string]http.RoundTripper{"wire": open(b, dial), "net/http": std} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				resp, err := rt.RoundTrip(request(b, b.Context(), "GET", nil))
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}

// What a lambda sees is the caller's request and nothing else.
func TestNothingIsAdded(t *testing.T) {
	seen := make(chan *http.Request, 1)
	dial, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r
		http.Redirect(w, r, "/else", http.StatusFound)
	})
	tr := open(t, dial)
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE"} {
		req := request(t, t.Context(), method, nil)
		req.Host = "public.example"
		req.Header["User-Agent"] = []string{""} // net/http's way to say none
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		r := <-seen
		if resp.StatusCode != http.StatusFound {
			t.Errorf("%s: status is %d: the redirect was followed", method, resp.StatusCode)
		}
		if r.Host != "public.example" || r.URL.String() != "/run/f?x=1" || len(r.TransferEncoding) > 0 {
			t.Errorf("%s: the lambda saw host %q, url %q, coding %v", method, r.Host, r.URL, r.TransferEncoding)
		}
		for name := range r.Header {
			if name != "Content-Length" {
				t.Errorf("%s: header %s was added", method, name)
			}
		}
	}
}

// flood is a connection on which a header never ends.
type flood struct {
	net.Conn
	begin, more string
	sent        int
}

func (f *flood) Write(p []byte) (int, error) { return len(p), nil }
func (f *flood) Close() error                { return nil }

func (f *flood) Read(p []byte) (int, error) {
	if f.begin == "" {
		f.begin = f.more
	}
	n := copy(p, f.begin)
	f.begin = f.begin[n:]
	f.sent += n
	return n, nil
}

// What a server sends before its answer's body is bounded, or it could fill the
// memory of whoever asks it.
func TestHeaderIsBounded(t *testing.T) {
	for name, f := range map[string]*flood{
		"fields":          {begin: "HTTP/1.1 200 OK\r\n", more: strings.Repeat("A: b\r\n", 1000)},
		"one line":        {more: strings.Repeat("HTTP/1.1 200 OK", 500)},
		"interim answers": {more: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 200)},
	} {
		tr := open(t, func(context.Context) (net.Conn, error) { return f, nil })
		resp, err := tr.RoundTrip(request(t, t.Context(), http.MethodGet, nil)) //nolint:bodyclose // there is none
		if !errors.Is(err, errLongHeader) || f.sent > maxHeader+64<<10 {
			t.Errorf("%s: got %v, %v after %d bytes", name, resp, err, f.sent)
		}
		if !tr.Unused() {
			t.Errorf("%s: the connection is kept", name)
		}
	}
}

// A body may be longer than a header.
func TestBodyIsNotBounded(t *testing.T) {
	const length = 3 * maxHeader
	dial, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, length)) // the reader counts
	})
	tr := open(t, dial)
	for range 2 {
		resp, err := tr.RoundTrip(request(t, t.Context(), http.MethodGet, nil))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil || n != length {
			t.Errorf("read %d bytes, %v", n, err)
		}
	}
}
