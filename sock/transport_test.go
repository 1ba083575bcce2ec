package sock

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// peer is a runtime that a test plays itself.
func peer(t *testing.T) (*Sandbox, *net.UnixListener) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	socket := os.NewFile(uintptr(fd), path)
	t.Cleanup(func() { socket.Close() })
	transport := newTransport(socket, 1)
	t.Cleanup(transport.CloseIdleConnections)
	return &Sandbox{transport: transport}, listener
}

// answerOnce answers the first request of a connection, then reads the second
// and hangs up. It counts requests on seen.
func answerOnce(l *net.UnixListener, seen chan<- *http.Request) {
	defer close(seen)
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		in := bufio.NewReader(conn)
		for i := range 2 {
			req, err := http.ReadRequest(in)
			if err != nil {
				break
			}
			_, _ = io.Copy(io.Discard, req.Body)
			seen <- req
			if i == 0 {
				_, _ = io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: /else\r\nContent-Length: 0\r\n\r\n")
			}
		}
		conn.Close()
	}
}

func request(t *testing.T, method, body string) *http.Request {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, "http://public.example/run/x?q=1", reader)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestRoundTripSendsOnce(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
		for _, body := range []string{"", "data"} {
			if body != "" && method == http.MethodHead {
				continue
			}
			t.Run(method+body, func(t *testing.T) {
				s, listener := peer(t)
				seen := make(chan *http.Request, 10)
				go answerOnce(listener, seen)
				resp, err := s.RoundTrip(request(t, method, body))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode != http.StatusFound {
					t.Errorf("status is %d: the redirect was followed", resp.StatusCode)
				}
				checkSeen(t, <-seen, body)
				if _, err := s.RoundTrip(request(t, method, body)); err == nil || errors.Is(err, ErrNotSent) {
					t.Errorf("a request that was read and not answered gives %v", err)
				}
				<-seen
				listener.Close()
				if extra, ok := <-seen; ok {
					t.Errorf("%s was sent again", extra.Method)
				}
			})
		}
	}
}

func checkSeen(t *testing.T, req *http.Request, body string) {
	t.Helper()
	if req.Host != "public.example" || req.URL.String() != "/run/x?q=1" {
		t.Errorf("runtime saw host %q, url %q", req.Host, req.URL)
	}
	if body == "" && len(req.TransferEncoding) > 0 {
		t.Errorf("an empty body was sent as %v", req.TransferEncoding)
	}
	for _, added := range []string{"Accept-Encoding"} {
		if req.Header.Get(added) != "" {
			t.Errorf("header %s was added", added)
		}
	}
}

func TestRoundTripNotSent(t *testing.T) {
	s, listener := peer(t)
	listener.Close()
	req := request(t, http.MethodPost, "x")
	before := *req.URL
	if _, err := s.RoundTrip(req); !errors.Is(err, ErrNotSent) {
		t.Errorf("error is %v", err)
	}
	if *req.URL != before || req.URL.User != (*url.Userinfo)(nil) {
		t.Error("the caller's request was changed")
	}
}
