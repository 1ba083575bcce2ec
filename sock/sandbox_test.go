package sock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	minimage "github.com/open-lambda/open-lambda/min-image"
)

// limit bounds every step of a test on a slow, shared machine.
const limit = 5 * time.Minute

// needRoot skips, saying why, where sandboxes cannot be made.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: making sandboxes needs root")
	}
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("NOT RUN: the host base needs /usr/bin/python3")
	}
}

// Settings of a test's own provider.
func Settings(t testing.TB) Config { return settings(t) }

func settings(t testing.TB) Config {
	t.Helper()
	needRoot(t)
	// The same test may run twice on one host.
	sum := sha256.Sum256([]byte(t.TempDir()))
	name := "test-" + hex.EncodeToString(sum[:4]) + "-" + strings.Map(plain, t.Name())
	cfg := DefaultConfig(name[:min(len(name), 50)], t.TempDir(), minimage.Runtime())
	cfg.Pool = 2
	cfg.Logger = slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return cfg
}

func plain(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z':
		return r + 'a' - 'A'
	case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
		return r
	}
	return '-'
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

func newProvider(t testing.TB, cfg Config) *Provider {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	CloseAfter(t, p)
	return p
}

// CloseAfter closes a provider when the test is over.
func CloseAfter(t testing.TB, p Maker) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

// code writes a lambda and returns its spec.
func code(t testing.TB, id, source string) Spec {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f.py"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	return Spec{
		ID: id, Dir: dir, Entry: "f.py", Env: map[string]string{"COLOUR": "blue"},
		MemMB: 64, CPUPercent: 100, Procs: 10, Slots: 1, MaxBody: 1 << 20,
		Output: testWriter{t},
	}
}

func create(t testing.TB, p Maker, spec Spec) *Sandbox {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s, err := p.Create(ctx, spec)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return s
}

func destroy(t testing.TB, s *Sandbox) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := s.Destroy(ctx); err != nil {
		t.Fatalf("destroy: %v", err)
	}
}

func call(t testing.TB, s *Sandbox, body string) (int, string) {
	t.Helper()
	status, answer, err := try(s, body)
	if err != nil {
		t.Fatalf("call: %v", err)
	}
	return status, answer
}

func try(s *Sandbox, body string) (int, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://worker/run/x", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	resp, err := roundTrip(s, req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer), err
}

// roundTrip sends one request on a connection of its own.
func roundTrip(s *Sandbox, req *http.Request) (*http.Response, error) {
	t := &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return s.Dial(ctx) },
		DisableKeepAlives: true,
	}
	return t.RoundTrip(req)
}

// reachable tells whether something accepts connections.
func reachable(s *Sandbox) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	conn, err := s.Dial(ctx)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// warm waits until a provider that keeps sandboxes ready has them.
func warm(t testing.TB, p Maker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := warmUp(ctx, p); err != nil {
		t.Fatal(err)
	}
}

func warmUp(ctx context.Context, p Maker) error {
	if w, ok := p.(interface{ Warm(context.Context) error }); ok {
		return w.Warm(ctx)
	}
	return nil
}

const echo = "def f(event):\n    return event\n"

func TestOrigins(t *testing.T) {
	cases := []struct {
		origin string
		zygote bool
		pool   int
	}{{Fresh, false, 0}, {FromZygote, true, 0}, {FromPool, true, 2}}
	for _, c := range cases {
		t.Run(c.origin, func(t *testing.T) {
			cfg := settings(t)
			cfg.Zygote, cfg.Pool = c.zygote, c.pool
			p := newProvider(t, cfg)
			warm(t, p)
			s := create(t, p, code(t, "one", echo))
			if got := s.Info().Origin; got != c.origin {
				t.Errorf("origin is %q", got)
			}
			if status, answer := call(t, s, `{"a":1}`); status != 200 || strings.ReplaceAll(answer, " ", "") != `{"a":1}` {
				t.Errorf("answer is %d %q", status, answer)
			}
			t.Log("init took", s.Info().Init)
			destroy(t, s)
		})
	}
}
