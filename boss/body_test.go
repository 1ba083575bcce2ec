package boss_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
)

// raw writes half a request and returns what is answered.
func raw(t *testing.T, b *runningBoss, head, body string, end bool) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // may be closed already
	if _, err := fmt.Fprintf(conn, "%s\r\n\r\n%s", head, body); err != nil {
		t.Fatal(err)
	}
	if end {
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() }) // read in full
	return resp
}

// A small body that never comes ends with the invocation's time, and no worker
// sees it.
func TestBodyThatStalls(t *testing.T) {
	b := startBoss(t, boss.Config{})
	w := startWorkers(t, 1, emulate.Config{Record: true}, b)
	head := "POST /run/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n" + api.HeaderTimeout + ": 200"
	resp := raw(t, b, head, "half of it", false)
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusGatewayTimeout || reason(t, text) != "deadline" {
		t.Errorf("got %s, %v: %s", resp.Status, err, text)
	}
	if got := ran(w); len(got) > 0 {
		t.Errorf("the worker ran %v", got)
	}
}

// The boundary between what is read ahead and what is streamed.
func TestBodiesOfEverySize(t *testing.T) {
	b := startBoss(t, boss.Config{Timeout: time.Minute})
	startWorkers(t, 1, emulate.Config{}, b)
	for _, size := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20} {
		for _, known := range []bool{true, false} {
			body := strings.Repeat("x", size)
			var r io.Reader = strings.NewReader(body)
			if !known {
				r = io.MultiReader(r) // hides the length
			}
			resp, text := get(t, http.MethodPost, b.url+"/run/echo", r, nil)
			if resp.StatusCode != 200 {
				t.Errorf("%d bytes, length known %v: %s: %.100s", size, known, resp.Status, text)
			}
		}
	}
}
