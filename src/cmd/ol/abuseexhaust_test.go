package main

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/src/api"
)

// exhaustion is a way to use up what is everybody's, and how far it gets.
type exhaustion struct {
	what   string
	memMB  int
	status int
	body   string // a regular expression
}

// Lambdas here may have ten processes, and for a request 100 seconds, which are
// plenty, or if time is what ends them five seconds. All else that they can fill
// is memory, which is theirs, or is counted by the kernel.
func exhaustions() []exhaustion {
	const oom, late = `"reason":"out-of-memory"`, `"reason":"runtime-limit"`
	return []exhaustion{
		{"processes", 50, 200, "^9$"},
		{"fork bomb", 50, 200, "survived"},
		{"threads", 50, 200, "^[6-9]$"},
		{"memory", 50, 502, oom},
		{"shared memory", 50, 502, oom},
		{"memfd", 50, 502, oom},
		{"shared segments", 50, 502, oom},
		{"messages", 50, 502, oom},
		{"page tables", 50, 502, oom},
		{"locks", 50, 200, "^[0-9]+$"}, // only time bounds them
		{"reads", 50, 200, "^[0-9]+$"}, // its page cache is written off, never another's
		{"maps", 50, 200, "^[0-9]+$"},
		{"disk in /tmp", 50, 502, oom}, // a tmpfs: its pages are charged
		{"disk in /host", 50, 502, oom},
		{"disk in /tmp", 200, 200, "^6[34]$"}, // and it has a size
		{"disk in /host", 200, 200, "^6[34]$"},
		{"disk in /dev/shm", 200, 200, "^1[56]$"},
		{"inodes in /tmp", 50, 502, oom},
		{"inodes in /host", 50, 502, oom},
		{"inodes in /dev/shm", 50, 502, oom},
		{"pipes", 50, 502, oom},
		{"socket buffers", 50, 502, oom},
		{"descriptors", 50, 200, "^[0-9]{3,5}$"},
		{"descriptors in flight", 50, 200, "^[0-9]{1,4}$"},
		{"limits", 50, 200, "^0$"},
		{"cpu", 50, 200, "done"},
		{"hog", 50, 200, "^9$"},
		{"fork storm", 50, 200, "^[0-9]+$"},
		{"output", 50, 200, "printed"},
		{"huge answer", 100, 200, "^x+$"},
		{"endless answer", 50, 200, "^x+$"}, // the client goes, and the lambda ends
		{"stuck", 50, 504, late},
	}
}

func (a *abused) exhaust(t *testing.T) {
	for i, x := range exhaustions() {
		name := fmt.Sprintf("exhaust%d", i) // what one leaves in its sandbox is not the next one's
		seconds := 100
		if x.status == http.StatusGatewayTimeout {
			seconds = 5
		}
		a.install(name, "exhaust", fmt.Sprintf("limits: {runtime_sec: %d, mem_mb: %d, procs: 10}\n", seconds, x.memMB))
		t.Run(fmt.Sprintf("%s, %d MB", x.what, x.memMB), func(t *testing.T) {
			status, body := a.send(t, name, `{"what": "`+x.what+`"}`, 8<<20)
			if status != x.status || !regexp.MustCompile(x.body).MatchString(body) {
				t.Errorf("%d %.300s, want %d %s", status, body, x.status, x.body)
			}
			a.witness("witness")
		})
	}
}

// slowReaders has clients that do not read answers without end: they hold up
// their own sandboxes and nobody else, and those end when the clients go.
func (a *abused) slowReaders(t *testing.T) {
	a.install("dribble", "exhaust", "limits: {runtime_sec: 60, mem_mb: 50, procs: 10}\n")
	const readers = 8
	bodies := make([]io.ReadCloser, readers)
	for i := range bodies {
		resp, err := http.Post(a.url+api.PathRun+"dribble", "application/json", strings.NewReader(`{"what": "endless answer"}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		bodies[i] = resp.Body
		if _, err := io.CopyN(io.Discard, resp.Body, 1); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("reader %d: %d, %v", i, resp.StatusCode, err)
		}
	}
	a.witness("witness")
	if n := a.sandboxes(); n < readers {
		t.Errorf("%d sandboxes for %d readers: somebody was cut off", n, readers)
	}
	for _, b := range bodies {
		b.Close()
	}
	a.witness("witness")
}

// spoil has a child spoil all that it can; those of the same zygote that come
// later must not notice.
func (a *abused) spoil(t *testing.T) {
	for _, name := range []string{"spoiler1", "spoiler2", "spoiler3"} {
		a.install(name, "zygote", "")
		// It writes into every descriptor that it has, so its own answer may be lost.
		if status, body := a.send(t, name, `{"spoil": true}`, 1<<20); status != http.StatusOK && status != http.StatusBadGateway {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	a.witness("witness")
	for _, name := range []string{"later1", "later2", "later3", "later4"} {
		a.install(name, "zygote", "")
		a.witness(name)
	}
}
