package sock

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// callerSource opens connections at the socket and asks on the last.
const callerSource = `
import os, socket
held = []
def f(event):
    if not os.path.exists("/host/invoke.sock"):
        return "none"
    for _ in range(event.get("hold", 0)):
        s = socket.socket(socket.AF_UNIX)
        s.connect("/host/invoke.sock")
        held.append(s)
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(event.get("timeout", 30))
    s.connect("/host/invoke.sock")
    s.sendall(b"POST /run/b HTTP/1.0\r\n\r\n")
    try:
        return s.makefile("rb").read().rpartition(b"\r\n")[2].decode()
    except TimeoutError:
        return "late"
`

// The socket for calls is there only for who may call, is served by a handler
// of the sandbox' own, and takes a bounded number of connections.
func TestCalls(t *testing.T) {
	for _, pooled := range []bool{true, false} {
		t.Run(fmt.Sprintf("pooled=%t", pooled), func(t *testing.T) {
			cfg := settings(t)
			if !pooled {
				cfg.Zygote, cfg.Pool = false, 0
			}
			p := newProvider(t, cfg)
			warm(t, p)
			for _, name := range []string{"a", "b"} {
				spec := code(t, name, callerSource)
				spec.Calls = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.WriteString(w, name+" asks for "+r.URL.Path)
				})
				s := create(t, p, spec)
				if _, answer := call(t, s, "{}"); strings.TrimSpace(answer) != `"`+name+` asks for /run/b"` {
					t.Errorf("%s is told %s", name, answer)
				}
			}
			if _, answer := call(t, create(t, p, code(t, "c", callerSource)), "{}"); strings.TrimSpace(answer) != `"none"` {
				t.Errorf("who may not call is told %s", answer)
			}
		})
	}
}

func TestCallConnectionsAreBounded(t *testing.T) {
	p := newProvider(t, settings(t))
	warm(t, p)
	spec := code(t, "greedy", callerSource)
	spec.Calls = http.NotFoundHandler()
	s := create(t, p, spec)
	if _, answer := call(t, s, fmt.Sprintf(`{"hold": %d, "timeout": 1}`, callConnections)); strings.TrimSpace(answer) != `"late"` {
		t.Errorf("with %d connections open another is told %s", callConnections, answer)
	}
	destroy(t, s) // and all that waits ends
}
