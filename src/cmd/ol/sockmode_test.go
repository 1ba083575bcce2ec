package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
)

// sockMode is a worker that serves bare sandboxes, which are real.
type sockMode struct{ *registryWorker }

// post returns the whole answer to a POST, which has to be 200.
func (m sockMode) post(path, body string) (string, error) {
	a, err := m.try("POST "+path, body, nil)
	if err == nil && a.status != 200 {
		err = fmt.Errorf("%s: %v", path, a)
	}
	return a.body, err
}

func (m sockMode) create(code, parent string) (string, error) {
	id, err := m.post("/create", fmt.Sprintf(`{"code": %q, "leaf": true, "parent": %q}`, code, parent))
	return strings.TrimSpace(id), err
}

// server_mode sock as OpenLambda's test of it uses it: sandboxes that sit
// paused, more than the pool would hold awake, while clients make and destroy
// others. In the end nothing is left.
func TestSockModeChurn(t *testing.T) {
	m := sockMode{startRegistryWorker(t, imageHost, "server_mode=sock,mem_pool_mb=500")}
	code, err := filepath.Abs(filepath.Join(registryDir, "echo"))
	if err != nil {
		t.Fatal(err)
	}
	parent, err := m.post("/create", `{"code": "", "leaf": false}`)
	if err != nil {
		t.Fatal(err)
	}
	parent = strings.TrimSpace(parent)
	const idle, clients, rounds = 16, 6, 4
	var paused []string
	for range idle {
		id, err := m.create(code, parent)
		if err == nil {
			_, err = m.post("/pause/"+id, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		paused = append(paused, id)
	}
	var group errgroup.Group
	for c := range clients {
		group.Go(func() error {
			for i := range rounds {
				if err := m.round(code, parent, fmt.Sprintf(`{"client": %d, "round": %d}`, c, i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	m.checkPaused(paused)
}

// round makes, calls and destroys one sandbox.
func (m sockMode) round(code, parent, body string) error {
	id, err := m.create(code, parent)
	if err != nil {
		return err
	}
	if got, err := m.post("/run/"+id, body); err != nil || got != body {
		return fmt.Errorf("run: %q, %w", got, err)
	}
	_, err = m.post("/destroy/"+id, "")
	return err
}

// checkPaused wakes a sandbox that slept through the churn, and counts the
// others.
func (m sockMode) checkPaused(paused []string) {
	m.t.Helper()
	if _, err := m.post("/unpause/"+paused[0], ""); err != nil {
		m.t.Fatal(err)
	}
	if got, err := m.post("/run/"+paused[0], `["awake"]`); err != nil || got != `["awake"]` {
		m.t.Errorf("after the pause: %q, %v", got, err)
	}
	text, err := m.post("/debug", "")
	if err != nil || strings.Count(text, "idle, frozen") != len(paused)-1 || !strings.Contains(text, "cgroup:") {
		m.t.Errorf("debug: %v\n%s", err, text)
	}
}

// Code may come as an archive.
func TestSockModeArchive(t *testing.T) {
	m := sockMode{startRegistryWorker(t, imageHost, "server_mode=sock")}
	packed, _, err := (&stage{dir: filepath.Join(registryDir, "hello")}).pack()
	if err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(t.TempDir(), "hello.tar.gz")
	if err := os.WriteFile(archive, packed, 0o644); err != nil {
		t.Fatal(err)
	}
	id, err := m.create(archive, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.post("/run/"+id, "{}"); err != nil || got != `"hello"` {
		t.Errorf("from an archive: %q, %v", got, err)
	}
}
