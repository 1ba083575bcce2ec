package minimage

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for the runtime; the machine may be very slow.
const patience = 60 * time.Second

// runtimeProcess is one plain Python process that serves one lambda.
type runtimeProcess struct {
	t      *testing.T
	socket string
	client *http.Client
	cmd    *exec.Cmd
	output *lockedBuffer
	ended  chan struct{}
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED: no python3 on this machine, the runtime was not tested")
	}
	return path
}

// command prepares a Python process that finds the embedded runtime.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, Runtime()); err != nil {
		t.Fatalf("write runtime: %v", err)
	}
	cmd := exec.Command(python(t), args...)
	cmd.Env = []string{"PYTHONPATH=" + dir, "PYTHONDONTWRITEBYTECODE=1", "HOST_SECRET=leak"}
	return cmd
}

// start serves source as f.py. config is merged into the runtime's own.
func start(t *testing.T, source string, config map[string]any) *runtimeProcess {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f.py"), source)
	return startDir(t, dir, config)
}

func startDir(t *testing.T, dir string, config map[string]any) *runtimeProcess {
	t.Helper()
	p := &runtimeProcess{t: t, output: &lockedBuffer{}, ended: make(chan struct{})}
	p.socket = filepath.Join(socketDir(t), "s")
	all := map[string]any{"socket": p.socket, "handler_dir": dir, "report": 3}
	for key, value := range config {
		all[key] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = command(t, "-m", "olrt", string(text))
	p.run()
	p.client = p.newClient()
	return p
}

// socketDir is a directory with a path short enough for a unix socket.
func socketDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "olrt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (p *runtimeProcess) run() {
	p.t.Helper()
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	r, w, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Close()
	p.cmd.ExtraFiles = []*os.File{w}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatalf("start python: %v", err)
	}
	w.Close()
	go func() {
		_ = p.cmd.Wait() // how it ended is in ProcessState
		close(p.ended)
	}()
	p.t.Cleanup(p.stop)
	report, err := io.ReadAll(r)
	if err != nil || string(report) != "ready\n" {
		p.t.Fatalf("runtime reports %q (%v), prints %s", report, err, p.output)
	}
}

func (p *runtimeProcess) stop() {
	// The whole group: a handler may have left children that hold the output.
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // all may have ended already
	<-p.ended
}

func (p *runtimeProcess) newClient() *http.Client {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", p.socket)
		},
		ExpectContinueTimeout: patience,
		DisableCompression:    true,
	}
	p.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// do sends one request and returns the answer with its whole body.
func (p *runtimeProcess) do(req *http.Request) (*http.Response, string) {
	p.t.Helper()
	resp, err := p.client.Do(req)
	if err != nil {
		p.t.Fatalf("%s %s: %v; printed %s", req.Method, req.URL, err, p.output)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatalf("read answer: %v", err)
	}
	return resp, string(body)
}

func (p *runtimeProcess) post(body string) (int, string) {
	p.t.Helper()
	resp, text := p.do(request(p.t, "POST", "/run/f", strings.NewReader(body)))
	return resp.StatusCode, text
}

// expect posts body and compares the answer.
func (p *runtimeProcess) expect(body string, status int, answer string) {
	p.t.Helper()
	if code, text := p.post(body); code != status || text != answer {
		p.t.Fatalf("POST %s: %d %q, want %d %q", body, code, text, status, answer)
	}
}

// dial opens a raw connection with a deadline.
func (p *runtimeProcess) dial() net.Conn {
	p.t.Helper()
	conn, err := net.Dial("unix", p.socket)
	if err != nil {
		p.t.Fatalf("dial runtime: %v", err)
	}
	p.t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		p.t.Fatal(err)
	}
	return conn
}

// ping asks whether the runtime is free.
func (p *runtimeProcess) ping() error {
	req := request(p.t, "GET", "/.ol/ping", nil)
	req.Header.Set("X-Ol-Ping", "1")
	resp, err := p.newClient().Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		p.t.Fatalf("ping: %s", resp.Status)
	}
	return nil
}

// await polls the output for text.
func (p *runtimeProcess) await(text string) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for !strings.Contains(p.output.String(), text) {
		if time.Now().After(deadline) {
			p.t.Fatalf("no %q in output %q", text, p.output)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func request(t *testing.T, method, path string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, "http://sandbox"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
