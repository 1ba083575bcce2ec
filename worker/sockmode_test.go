package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// newBareNode is a worker in server_mode sock whose sandboxes answer with the
// path that they are asked for. Its code is in the directory code.
func newBareNode(t *testing.T, change func(*config.Config)) *node {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "code/echo/f.py"), "1")
	write(t, filepath.Join(dir, "code/fails/f.py"), "1")
	write(t, filepath.Join(dir, "code/large/f.py"), "1")
	write(t, filepath.Join(dir, "code/large/ol.yaml"), "limits: {mem_mb: 500}\n")
	write(t, filepath.Join(dir, "code/greedy/f.py"), "1")
	write(t, filepath.Join(dir, "code/greedy/ol.yaml"), "limits: {mem_mb: 5000}\n")
	s := config.New(dir, 4000)
	s.ServerMode, s.Limits.MemMB, s.Limits.RuntimeSec, s.MemPoolMB = "sock", 50, 20, 100
	s.InstallerLimits.MemMB = 50
	if change != nil {
		change(&s)
	}
	return startNode(t, dir, s, func(spec sandbox.Spec) (http.Handler, error) {
		if spec.Function == "fails" {
			return nil, &sandbox.StartError{Lambda: true, Reason: "import fails", Output: "traceback"}
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("wait") {
				<-r.Context().Done()
				return
			}
			_, _ = io.WriteString(w, r.Method+" "+r.URL.Path)
		}), nil
	})
}

func (n *node) post(path, body string) reply {
	n.t.Helper()
	return n.do(http.MethodPost, path, strings.NewReader(body))
}

// create makes a sandbox and returns its id.
func (n *node) create(format string, args ...any) string {
	n.t.Helper()
	r := n.post("/create", fmt.Sprintf(format, args...))
	if r.status != http.StatusOK || !strings.HasSuffix(r.body, "\n") {
		n.t.Fatalf("create: %d %q", r.status, r.body)
	}
	return strings.TrimSpace(r.body)
}

func (n *node) code(name string) string { return filepath.Join(n.dir, "code", name) }

func TestSockMode(t *testing.T) {
	n := newBareNode(t, nil)
	n.expect(n.get("/status"), http.StatusOK, "ready\n")
	id := n.create(`{"code": %q}`, n.code("echo"))
	n.expect(n.get("/run/"+id+"/x"), http.StatusOK, "GET /run/"+id+"/x")
	n.expect(n.post("/pause/"+id, ""), http.StatusOK, "")
	n.expect(n.post("/pause/"+id, ""), http.StatusOK, "")
	if frozen, _ := n.provider.Live()[0].Frozen(); !frozen {
		t.Error("a paused sandbox runs")
	}
	n.expect(n.get("/run/"+id), http.StatusConflict, "/unpause/"+id)
	n.expect(n.post("/debug", ""), http.StatusOK, "SANDBOX "+id+"\n  function: echo\n  state:    idle, frozen\n")
	n.expect(n.post("/unpause/"+id, ""), http.StatusOK, "")
	n.expect(n.get("/run/"+id), http.StatusOK, "GET /run/"+id)
	n.expect(n.post("/destroy/"+id, ""), http.StatusOK, "")
	for _, path := range []string{"/destroy/" + id, "/pause/" + id, "/unpause/" + id, "/run/" + id} {
		n.expect(n.post(path, ""), http.StatusNotFound, "there is no sandbox")
	}
	if live := n.provider.Live(); len(live) > 0 {
		t.Errorf("%d sandboxes are left", len(live))
	}
	var stats api.Stats
	if err := json.Unmarshal([]byte(n.get("/stats").body), &stats); err != nil || stats["create-sandbox.cnt"] != 1 || stats["destroy-sandbox.cnt"] != 1 || stats["mem-mb"] != 0 {
		t.Errorf("stats: %v, %v", stats, err)
	}
}

// A parent runs nothing, and its children begin with its packages.
func TestSockModeParents(t *testing.T) {
	n := newBareNode(t, nil)
	parent := n.create(`{"code": "", "leaf": false}`)
	n.expect(n.get("/run/"+parent), http.StatusBadRequest, "is a parent")
	if made, _ := n.provider.Made(); made != 0 {
		t.Errorf("a parent made %d sandboxes", made)
	}
	child := n.create(`{"code": %q, "leaf": true, "parent": %q}`, n.code("echo"), parent)
	n.expect(n.post("/create", fmt.Sprintf(`{"code": %q, "parent": %q}`, n.code("echo"), child)), http.StatusBadRequest, "has no children")
	n.expect(n.post("/create", fmt.Sprintf(`{"code": %q, "parent": %q, "runtime": "native"}`, n.code("echo"), parent)), http.StatusBadRequest, "different runtimes")
	n.expect(n.post("/destroy/"+parent, ""), http.StatusOK, "")
	n.expect(n.get("/run/"+child), http.StatusOK, child) // it does not need it any more
}

func TestSockModeRefuses(t *testing.T) {
	n := newBareNode(t, nil)
	for _, c := range []struct {
		body   string
		status int
		part   string
	}{
		{`{`, 400, "has to be JSON"},
		{`{}`, 400, "needs code"},
		{`{"code": "/nothing/there"}`, 400, "neither a directory"},
		{`{"code": "/nothing/there.tar.gz"}`, 400, "cannot be read"},
		{fmt.Sprintf(`{"code": %q, "runtime": "wasm"}`, n.code("echo")), 400, "there is no runtime"},
		{fmt.Sprintf(`{"code": %q, "runtime": "native"}`, n.code("echo")), 400, "not for the runtime"},
		{fmt.Sprintf(`{"code": %q, "parent": "b99"}`, n.code("echo")), 404, "there is no sandbox"},
		{fmt.Sprintf(`{"code": %q, "pkgs": ["a==1", "a==2"]}`, n.code("echo")), 400, "cannot both be"},
		{fmt.Sprintf(`{"code": %q}`, n.code("large")), 400, "the whole pool has 100"},
		{fmt.Sprintf(`{"code": %q}`, n.code("greedy")), 400, "limits_max.mem_mb=5000"},
		{fmt.Sprintf(`{"code": %q}`, n.code("fails")), 502, "traceback"},
	} {
		n.expect(n.post("/create", c.body), c.status, c.part)
	}
	if r := n.get("/create"); r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "POST" {
		t.Errorf("GET /create: %d %v", r.status, r.header)
	}
	n.expect(n.get("/stats"), http.StatusOK, `"mem-mb":0`)
}

// Who lacks memory waits for it, in turn and not for ever.
func TestSockModeMemory(t *testing.T) {
	n := newBareNode(t, func(s *config.Config) { s.QueueTimeoutMS = 2000 })
	first := n.create(`{"code": %q}`, n.code("echo"))
	n.create(`{"code": %q}`, n.code("echo"))
	n.expect(n.post("/create", fmt.Sprintf(`{"code": %q}`, n.code("echo"))), http.StatusServiceUnavailable, "mem_pool_mb")
	waits := make(chan reply, 1)
	var group errgroup.Group
	group.Go(func() error {
		resp, err := n.client.Post(n.url+"/create", "application/json", strings.NewReader(fmt.Sprintf(`{"code": %q}`, n.code("echo"))))
		if err != nil {
			return err
		}
		waits <- reply{status: resp.StatusCode}
		return resp.Body.Close()
	})
	n.expect(n.post("/destroy/"+first, ""), http.StatusOK, "")
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if r := <-waits; r.status != http.StatusOK {
		t.Errorf("with memory: %d", r.status)
	}
}

// A request that runs longer than it may ends, and so does one when the worker
// shuts down.
func TestSockModeRuntimeLimit(t *testing.T) {
	n := newBareNode(t, func(s *config.Config) { s.Limits.RuntimeSec = 1 })
	id := n.create(`{"code": %q}`, n.code("echo"))
	n.expect(n.get("/run/"+id+"?wait"), http.StatusGatewayTimeout, "runtime_sec")
	n.expect(n.get("/run/"+id), http.StatusOK, id)
}

// Many clients make and destroy sandboxes while others sit idle: nothing is
// lost, and nothing is left.
func TestSockModeChurn(t *testing.T) {
	n := newBareNode(t, func(s *config.Config) { s.MemPoolMB = 500 })
	parent := n.create(`{"leaf": false}`)
	for range 4 {
		n.expect(n.post("/pause/"+n.create(`{"code": %q, "parent": %q}`, n.code("echo"), parent), ""), http.StatusOK, "")
	}
	var group errgroup.Group
	for range 15 {
		group.Go(func() error {
			for range 20 {
				if err := n.churn(parent); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if live := n.provider.Live(); len(live) != 4 {
		t.Errorf("%d sandboxes live, want 4", len(live))
	}
	if made, peak := n.provider.Made(); made != 304 || peak > 10 {
		t.Errorf("made %d, %d at once: a pool of 500 MB has room for 10", made, peak)
	}
}

// churn makes, uses and destroys one sandbox.
func (n *node) churn(parent string) error {
	begin := time.Now()
	id := ""
	for _, step := range []string{"/create", "/run/", "/destroy/"} {
		resp, err := n.client.Post(n.url+step+id, "", strings.NewReader(fmt.Sprintf(`{"code": %q, "parent": %q}`, n.code("echo"), parent)))
		if err != nil {
			return err
		}
		text, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s%s after %v: %d %s %w", step, id, time.Since(begin), resp.StatusCode, text, err)
		}
		if id == "" {
			id = strings.TrimSpace(string(text))
		}
	}
	return nil
}
