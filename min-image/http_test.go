package minimage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const echo = "def f(event):\n    return event\n"

func TestRequestsInSequence(t *testing.T) {
	p := start(t, echo, nil)
	for i := range 50 {
		want := fmt.Sprintf(`{"n": %d}`, i)
		p.expect(want, 200, want)
	}
	p.expect("", 200, "{}")
	p.expect(" [1, 2] ", 200, "[1, 2]")
	if code, text := p.post("{"); code != 400 || !strings.Contains(text, "not JSON") {
		t.Errorf("bad JSON: %d %q", code, text)
	}
	if code, _ := p.post(strings.Repeat("[", 500_000)); code != 400 {
		t.Errorf("deeply nested JSON: %d", code)
	}
	p.expect(`"\u00e9\ud83d\ude00"`, 200, `"\u00e9\ud83d\ude00"`)
}

func TestContentTypes(t *testing.T) {
	p := start(t, `
def f(event):
    if event == "bytes": return b"\0\1"
    if event == "answer": return (418, {"A": "B"}, "hi\n")
    if event == "twice": return (200, [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")], None)
    if event == "split": return (200, {"A": "b\r\nC: d"}, "")
    if event == "status": return (204, {}, "ignored")
    return event
`, nil)
	for _, test := range []struct {
		event, kind, body string
		status            int
	}{
		{`{"a": 1}`, "application/json", `{"a": 1}`, 200},
		{`"bytes"`, "application/octet-stream", "\x00\x01", 200},
		{`"answer"`, "text/plain; charset=utf-8", "hi\n", 418},
		{`"status"`, "text/plain; charset=utf-8", "", 204},
	} {
		resp, body := p.do(request(t, "POST", "/", strings.NewReader(test.event)))
		if resp.StatusCode != test.status || body != test.body || resp.Header.Get("Content-Type") != test.kind {
			t.Errorf("%s: %d %q %q", test.event, resp.StatusCode, resp.Header, body)
		}
	}
	resp, _ := p.do(request(t, "POST", "/", strings.NewReader(`"twice"`)))
	if got := resp.Header.Values("Set-Cookie"); len(got) != 2 {
		t.Errorf("duplicate headers: %q", got)
	}
	if code, text := p.post(`"split"`); code != 500 || !strings.Contains(text, "invalid") {
		t.Errorf("header injection: %d %q", code, text)
	}
}

func TestHead(t *testing.T) {
	p := start(t, echo, nil)
	resp, body := p.do(request(t, "HEAD", "/", strings.NewReader(`{"a": 1}`)))
	if body != "" || resp.ContentLength != 8 {
		t.Fatalf("HEAD: %d bytes, Content-Length %d", len(body), resp.ContentLength)
	}
	p.expect("1", 200, "1")
}

func TestStream(t *testing.T) {
	p := start(t, `
def f(event):
    if event == "early": raise ValueError("before")
    def items():
        if event == "first": raise ValueError("first")
        for i in range(3):
            yield "line %d\n" % i
        if event == "late": raise ValueError("too late")
    return items()
`, nil)
	resp, body := p.do(request(t, "POST", "/", nil))
	if body != "line 0\nline 1\nline 2\n" || len(resp.TransferEncoding) != 1 {
		t.Fatalf("stream: %q %v", body, resp.TransferEncoding)
	}
	resp, body = p.do(request(t, "HEAD", "/", nil))
	if resp.StatusCode != 200 || body != "" {
		t.Fatalf("HEAD of a stream: %d %q", resp.StatusCode, body)
	}
	for _, event := range []string{"early", "first"} {
		if code, text := p.post(`"` + event + `"`); code != 500 || !strings.Contains(text, "ValueError") {
			t.Errorf("%s: %d %q", event, code, text)
		}
	}
	resp, err := p.client.Do(request(t, "POST", "/", strings.NewReader(`"late"`)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("a stream that failed half-way looks complete")
	}
	p.await("too late")
	p.expect("1", 200, "line 0\nline 1\nline 2\n")
}

func TestBodyLimits(t *testing.T) {
	const limit = 1 << 20
	p := start(t, `
def f(event):
    if isinstance(event, int): return b"x" * event
    if isinstance(event, list):
        return (b"x" * 1000 for _ in range(event[0]))
    return len(event)
`, map[string]any{"max_body": limit})
	fits := `"` + strings.Repeat("a", limit-2) + `"`
	p.expect(fits, 200, fmt.Sprint(limit-2))
	if code, _ := p.post(fits + " "); code != 413 {
		t.Errorf("body over the limit: %d", code)
	}
	resp, text := p.do(request(t, "POST", "/", chunked(fits)))
	if resp.StatusCode != 200 || text != fmt.Sprint(limit-2) {
		t.Errorf("chunked body: %d %q", resp.StatusCode, text)
	}
	if resp, _ := p.do(request(t, "POST", "/", chunked(fits+" "))); resp.StatusCode != 413 {
		t.Errorf("chunked body over the limit: %d", resp.StatusCode)
	}
	if code, text := p.post(fmt.Sprint(limit)); code != 200 || len(text) != limit {
		t.Errorf("answer at the limit: %d, %d bytes", code, len(text))
	}
	if code, _ := p.post(fmt.Sprint(limit + 1)); code != 413 {
		t.Errorf("answer over the limit: %d", code)
	}
	if code, text := p.post("[1000]"); code != 200 || len(text) != 1_000_000 {
		t.Errorf("stream under the limit: %d, %d bytes", code, len(text))
	}
	resp, err := p.client.Do(request(t, "POST", "/", strings.NewReader("[2000]")))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err == nil || n > limit {
		t.Errorf("stream over the limit: %d bytes, %v", n, err)
	}
}

// chunked hides the length, which makes net/http send chunks.
func chunked(text string) io.Reader {
	return io.MultiReader(strings.NewReader(text))
}

func TestExpectContinue(t *testing.T) {
	p := start(t, echo, map[string]any{"max_body": 100})
	req := request(t, "POST", "/", strings.NewReader(`"yes"`))
	req.Header.Set("Expect", "100-continue")
	if resp, text := p.do(req); resp.StatusCode != 200 || text != `"yes"` {
		t.Errorf("expected and sent: %d %q", resp.StatusCode, text)
	}
	req = request(t, "POST", "/", bytes.NewReader(make([]byte, 101)))
	req.Header.Set("Expect", "100-continue")
	if resp, _ := p.do(req); resp.StatusCode != 413 {
		t.Errorf("expected and too large: %d", resp.StatusCode)
	}
}

func TestPipeliningByteByByte(t *testing.T) {
	p := start(t, echo, nil)
	sent := "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n1" +
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\n\"2\r\n1\r\n\"\r\n0\r\nT: u\r\n\r\n" +
		"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n" +
		"GET http://a/?q HTTP/1.0\r\n\r\n"
	for _, step := range []int{len(sent), 7, 1} {
		conn := p.dial()
		read := bufio.NewReader(conn)
		for rest := sent; rest != ""; rest = rest[min(step, len(rest)):] {
			if _, err := io.WriteString(conn, rest[:min(step, len(rest))]); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []string{"1", `"2"`, "{}", "{}"} {
			resp, err := http.ReadResponse(read, nil)
			if err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || string(body) != want {
				t.Fatalf("step %d: %q, %v, want %q", step, body, err, want)
			}
		}
		if n, err := read.Read(make([]byte, 1)); err != io.EOF {
			t.Fatalf("HTTP/1.0 connection: read %d, %v, want EOF", n, err)
		}
	}
}

func TestMalformedRequests(t *testing.T) {
	p := start(t, echo, map[string]any{"max_body": 1000})
	for _, test := range []struct {
		sent   string
		status int
	}{
		{"\x00\x01\x02\r\n\r\n", 400},
		{"GET\r\n\r\n", 400},
		{"A: b\r\nA: b\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nGET / HTTP/1.1\r\n\r\n", 400},
		{"GET / HTTP/1.1\nHost: a\n\n", 400},
		{"GET  / HTTP/1.1\r\n\r\n", 400},
		{"GET / HTTP/2.0\r\n\r\n", 505},
		{"GET / HTTP/1.1 \r\n\r\n", 400},
		{"GET / http/1.1\r\n\r\n", 400},
		{"G@T / HTTP/1.1\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nA: b\r\nGET / HTTP/1.1\r\n\r\n", 400},
		{"GET foo HTTP/1.1\r\n\r\n", 400},
		{"GET ftp://a/ HTTP/1.1\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\n: a\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nA\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nA: b\x00c\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n1", 400},
		{"POST / HTTP/1.1\r\nContent-Length: 0x1\r\n\r\n1", 400},
		{"POST / HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n1", 400},
		{"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n1", 400},
		{"POST / HTTP/1.1\r\nContent-Length: 9999999999999999999999\r\n\r\n1", 400},
		{"POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", 413},
		{"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1", 400},
		{"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc", 400},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\na\r\n", 400},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n", 413},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA\x00: b\r\n", 400},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 2000), 400},
		{"POST / HTTP/1.1\r\nExpect: the-unexpected\r\n\r\n", 417},
		{"GET /" + strings.Repeat("a", 70_000) + " HTTP/1.1\r\n\r\n", 431},
		{"GET / HTTP/1.1\r\n" + strings.Repeat("A: b\r\n", 12_000), 431},
	} {
		conn := p.dial()
		if _, err := io.WriteString(conn, test.sent); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%.60q: %v", test.sent, err)
		}
		if resp.StatusCode != test.status || !resp.Close {
			t.Errorf("%.60q: %d (closes: %v), want %d", test.sent, resp.StatusCode, resp.Close, test.status)
		}
		conn.Close()
	}
	p.expect("1", 200, "1")
	if resp, _ := p.do(request(t, "GET", "/", nil)); resp.StatusCode != 200 {
		t.Errorf("after all that: %d", resp.StatusCode)
	}
}

// TestMutatedRequests sends what is nearly right, over and over: the runtime
// may answer anything, but it must go on serving.
func TestMutatedRequests(t *testing.T) {
	p := start(t, echo, map[string]any{"max_body": 1000})
	seed := []byte("POST /run/f HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n12\r\n0\r\n\r\n" +
		"POST /run/f HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}GET / HTTP/1.0\r\n\r\n")
	rng := rand.New(rand.NewPCG(3, 5))
	pieces := []string{"\r\n", "\n", ":", " ", "\x00", "0", "\xff", "Content-Length: 3\r\n", "HTTP/1.1"}
	for range 400 {
		sent := bytes.Clone(seed)
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(sent))
			switch rng.IntN(3) {
			case 0:
				sent[at] = byte(rng.UintN(256))
			case 1:
				sent = slices.Delete(sent, at, min(at+1+rng.IntN(5), len(sent)))
			default:
				sent = slices.Insert(sent, at, []byte(pieces[rng.IntN(len(pieces))])...)
			}
		}
		conn := p.dial()
		if _, err := conn.Write(sent); err != nil && !errors.Is(err, syscall.EPIPE) {
			t.Fatalf("%q: %v", sent, err)
		}
		// It may have closed already, as it may answer with a reset.
		_ = conn.(interface{ CloseWrite() error }).CloseWrite()
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%q: neither answered nor closed", sent)
		}
		conn.Close()
	}
	p.expect("1", 200, "1")
}

func TestTruncatedRequestsAreNotServed(t *testing.T) {
	p := start(t, "count = 0\ndef f(event):\n    global count\n    count += 1\n    return count\n", nil)
	whole := "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n12\r\n0\r\n\r\n"
	for i := range whole {
		conn := p.dial()
		if _, err := io.WriteString(conn, whole[:i]); err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	p.expect("1", 200, "1")
}

func TestSlowClientHoldsUpNobody(t *testing.T) {
	p := start(t, echo, nil)
	slow := p.dial()
	if _, err := io.WriteString(slow, "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n\"a"); err != nil {
		t.Fatal(err)
	}
	p.expect("1", 200, "1")
	if _, err := io.WriteString(slow, `"`); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(slow), nil)
	if err != nil || resp.ContentLength != 3 {
		t.Fatalf("slow client: %v, %v", resp, err)
	}
}
