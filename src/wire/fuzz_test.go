package wire

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// second is what a sandbox sends to whoever asks again on the same connection.
const second = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"

// hostile is a sandbox that answers the first request of a connection with
// anything, and is silent for a moment then.
func hostile(conn net.Conn, anything []byte) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for _, answer := range [][]byte{anything, []byte(second)} {
		if err := conn.SetDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			return
		}
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body) // what it cannot read, it does not get
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

// Whatever a sandbox sends: the round trip ends, and nothing of it is taken for
// the answer to the next request.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		second, "", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + second, "HTTP/1.1 204 No Content\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nrest", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "HTTP/1.1 100 Continue\r\n\r\n" + second, "HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nffffffffffffffff\r\n", "\x16\x03\x01", "HTTP/9.9 999 \r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, anything []byte) {
		var wg sync.WaitGroup
		defer wg.Wait()
		dials := 0
		tr := New(func(context.Context) (net.Conn, error) {
			dials++
			ours, theirs := net.Pipe()
			wg.Go(func() { hostile(theirs, anything) })
			return ours, nil
		})
		defer tr.Close()
		for n := range 2 {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://sandbox/", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				cancel()
				return
			}
			body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // half an answer is one
			_ = resp.Body.Close()
			if ctx.Err() != nil {
				t.Error("the round trip did not end with its connection")
			}
			cancel()
			if n == 1 && dials == 1 && string(body) != "second" {
				t.Errorf("the second request is answered by %q", body)
			}
		}
	})
}
