package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// second is what a sandbox sends to whoever asks again on the same connection.
const second = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"

// script is a connection to a sandbox that answers the first request with
// anything, the next with second, and closes then. It needs no time.
type script struct {
	net.Conn // nil: what is not below is not used
	asked    bytes.Buffer
	said     bytes.Buffer
	answers  [][]byte
	closed   bool
}

func (s *script) Write(p []byte) (int, error) {
	if s.closed {
		return 0, net.ErrClosed
	}
	n, _ := s.asked.Write(p) // a buffer takes everything
	for bytes.Contains(s.asked.Bytes(), []byte("\r\n\r\n")) {
		_, rest, _ := bytes.Cut(s.asked.Bytes(), []byte("\r\n\r\n"))
		s.asked = *bytes.NewBuffer(bytes.Clone(rest))
		if len(s.answers) > 0 {
			s.said.Write(s.answers[0])
			s.answers = s.answers[1:]
		}
	}
	return n, nil
}

func (s *script) Read(p []byte) (int, error) {
	if s.closed {
		return 0, net.ErrClosed
	}
	return s.said.Read(p)
}

func (s *script) Close() error {
	s.closed = true
	return nil
}

// ask sends a request and reads the whole answer.
func ask(t *testing.T, tr *Transport) (*http.Response, []byte, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://sandbox/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(resp.Body)
	return resp, body, errors.Join(err, resp.Body.Close())
}

// plain reads the same bytes as net/http does, without a connection to keep.
// rest is what follows the answer.
func plain(text []byte) (resp *http.Response, body []byte, rest int, err error) {
	r := bufio.NewReaderSize(bytes.NewReader(text), max(16, len(text)))
	for {
		resp, err = http.ReadResponse(r, &http.Request{Method: http.MethodGet})
		if err != nil {
			return nil, nil, 0, err
		}
		if resp.StatusCode < 100 || resp.StatusCode == http.StatusSwitchingProtocols {
			return nil, nil, 0, errors.New("no status of an answer")
		}
		if resp.StatusCode >= 200 {
			break
		}
	}
	body, err = io.ReadAll(resp.Body)
	return resp, body, r.Buffered(), err
}

// Whatever a sandbox sends: the answer is what net/http takes it for, a final
// one, and nothing of it is taken for the answer to the next request.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		second, "", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + second, "HTTP/1.1 204 No Content\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nrest", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "HTTP/1.1 100 Continue\r\n\r\n" + second,
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n" + second,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nffffffffffffffff\r\n", "\x16\x03\x01", "HTTP/9.9 999 \r\n\r\n",
		"HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n" + second, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n0\r\nA: b\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, anything []byte) {
		dials := 0
		tr := New(func(context.Context) (net.Conn, error) {
			dials++
			return &script{answers: [][]byte{anything, []byte(second)}}, nil
		})
		resp, body, err := ask(t, tr)
		want, wantBody, rest, wantErr := plain(anything)
		if (err == nil) != (wantErr == nil) || err == nil && (resp.StatusCode != want.StatusCode || !bytes.Equal(body, wantBody)) {
			t.Fatalf("got %+v %q %v; net/http reads %+v %q %v", resp, body, err, want, wantBody, wantErr)
		}
		if err == nil && resp.StatusCode < http.StatusOK {
			t.Errorf("status %d is taken for an answer", resp.StatusCode)
		}
		_, again, err := ask(t, tr)
		kept := dials == 1
		if kept && (err != nil || string(again) != "second") {
			t.Errorf("the second request is answered by %q, %v", again, err)
		}
		if kept && (wantErr != nil || rest > 0 || want.Close || want.ContentLength < 0 && !chunked(want)) {
			t.Errorf("a connection is used again after %q", anything)
		}
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
		if !tr.Unused() {
			t.Error("a connection is counted as in use")
		}
	})
}

func chunked(resp *http.Response) bool { return strings.Join(resp.TransferEncoding, ",") == "chunked" }
