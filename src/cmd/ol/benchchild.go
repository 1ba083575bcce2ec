package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/config"
)

// A floor is measured in a process of its own, as the worker is: then both pay
// for the same switches between processes.

// benchBody is what warm requests carry.
const benchBody = `{"hello": "world"}`

// child is a process that serves until its standard input ends.
type child struct {
	cmd *exec.Cmd
	in  io.Closer
	url string
}

// startChild runs a hidden command that prints its address when it serves.
func startChild(ctx context.Context, s streams, args ...string) (*child, error) {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = append([]string{"ol", "bench"}, args...)
	cmd.Env, cmd.Stderr = s.env, s.err
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	c := &child{cmd, in, strings.TrimSpace(line)}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], c.stop())
	}
	return c, nil
}

func (c *child) stop() error {
	if err := c.in.Close(); err != nil {
		return err
	}
	return c.cmd.Wait()
}

// serveUntilEOF serves a handler, says where, and goes on until in ends.
func serveUntilEOF(s streams, h http.Handler) error {
	address, stop, err := bench.Serve(h)
	if err != nil {
		return err
	}
	s.print("%s", address)
	if _, err := io.Copy(io.Discard, s.in); err != nil {
		return err
	}
	return stop()
}

func floorCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "floor", Hidden: true, Usage: "serve a constant answer",
		Action: func(*cli.Context) error {
			return serveUntilEOF(s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, benchBody)
			}))
		},
	}
}

func proxyCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "proxy", Hidden: true, Usage: "serve a bare reverse proxy before sandboxes",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "sandboxes", Value: 1},
			&cli.StringFlag{Name: "dir"}, &cli.StringFlag{Name: "lambda"},
		},
		Action: func(c *cli.Context) error {
			boxes, closeAll, err := bareSandboxes(c.Context, c.String("dir"), c.String("lambda"), c.Int("sandboxes"))
			if err != nil {
				return err
			}
			var backends []http.RoundTripper
			for _, box := range boxes {
				backends = append(backends, stockTransport(box))
			}
			err = serveUntilEOF(s, bench.NewProxy(backends))
			if e := closeAll(); err == nil {
				err = e
			}
			return err
		},
	}
}

// bareSandboxes makes sandboxes of one lambda with nothing above them.
func bareSandboxes(ctx context.Context, dir, lambdaDir string, n int) ([]*sock.Sandbox, func() error, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, err
	}
	cfg := config.New(dir, leastPoolMB)
	cfg.PoolSize = 0
	p, err := sock.New(sockConfig(node{dir, cfg}, slog.New(slog.DiscardHandler)))
	if err != nil {
		return nil, nil, err
	}
	closeAll := func() error { return p.Close(context.WithoutCancel(ctx)) }
	var boxes []*sock.Sandbox
	for i := range n {
		box, err := p.Create(ctx, bareSpec(lambdaDir, fmt.Sprintf("bare-%d", i)))
		if err != nil {
			_ = closeAll()
			return nil, nil, err
		}
		boxes = append(boxes, box)
	}
	return boxes, closeAll, nil
}

// stockTransport is what a reverse proxy has by itself.
func stockTransport(box *sock.Sandbox) http.RoundTripper {
	return &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return box.Dial(ctx) },
		DisableCompression:  true,
		MaxIdleConnsPerHost: 1,
	}
}

// bareSpec is a sandbox as the worker makes it with default limits.
func bareSpec(lambdaDir, id string) sock.Spec {
	limits := config.New("/", leastPoolMB).Limits
	return sock.Spec{
		ID: id, Dir: filepath.Clean(lambdaDir), Entry: "f.py",
		MemMB: int64(limits.MemMB), CPUPercent: limits.CPUPercent, Procs: limits.Procs,
		Slots: 1, MaxBody: 64 << 20,
	}
}
