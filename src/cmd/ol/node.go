package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
)

// Files in the directory of a worker.
const (
	configFile    = "config.json"
	overridesFile = "config.json.overrides"
	initMarker    = "ol.init"
	lockFile      = "ol.lock"
	outputFile    = "worker.out"
)

// node is a worker's directory, seen from outside of the worker.
type node struct {
	dir    string
	config config.Config
}

// openNode reads the configuration that a worker in dir runs with, or would.
// What a worker wrote down when it started has its environment in it already;
// ours may be another.
func openNode(s streams, dir string) (node, error) {
	src := config.Sources{File: filepath.Join(dir, configFile), Env: s.env}
	if _, err := os.Stat(src.File); err != nil {
		return node{}, err
	}
	if running := filepath.Join(dir, overridesFile); exists(running) {
		src = config.Sources{File: running}
	}
	cfg, err := loadConfig(dir, src)
	return node{dir, cfg}, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// leastPoolMB is the smallest default of mem_pool_mb.
const leastPoolMB = 500

// loadConfig lays the sources over the defaults of a worker in dir. By default
// the pool leaves room for the zygotes, which it does not pay for.
func loadConfig(dir string, src config.Sources) (config.Config, error) {
	defaults, err := defaultConfig(dir)
	if err != nil {
		return config.Config{}, err
	}
	return config.Load(defaults, src)
}

func defaultConfig(dir string) (config.Config, error) {
	ram, err := config.MachineMB()
	if err != nil {
		return config.Config{}, err
	}
	defaults := config.New(dir, ram)
	defaults.MemPoolMB = max(defaults.MemPoolMB-reserveMB(defaults), leastPoolMB)
	return defaults, nil
}

// url returns the address of a path on the worker.
func (n node) url(path string) string {
	return n.scheme() + "://" + net.JoinHostPort(reachable(n.config.WorkerURL), n.config.WorkerPort) + path
}

// reachable is a host to connect to for one that is listened on.
func reachable(host string) string {
	if host == "0.0.0.0" || host == "::" || host == "" {
		return "localhost"
	}
	return host
}

func (n node) scheme() string {
	if n.config.Cluster.TLSCert != "" {
		return "https"
	}
	return "http"
}

// socket is where the worker answers to whoever may write to its directory.
func (n node) socket() string { return filepath.Join(n.config.WorkerDir, api.SocketFile) }

// pid asks the worker itself for its process id over its socket. A number in
// a file could belong to somebody else by now; an answer cannot. The error is
// errNotRunning if nobody answers.
func (n node) pid(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", n.socket())
		},
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://worker"+api.PathPID, nil)
	if err != nil {
		return 0, err
	}
	resp, err := client.Do(req)
	if errors.Is(err, fs.ErrPermission) {
		return 0, fail(codeFailed, "ask the worker in "+n.dir, fs.ErrPermission, "its socket is for the user that started it: try again with sudo")
	}
	if err != nil {
		return 0, errNotRunning
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64))
	if err != nil {
		return 0, errNotRunning
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 0 {
		return 0, fmt.Errorf("ask worker for its process id: it answered %q", text)
	}
	return pid, nil
}

// errNotRunning says that no worker answers.
var errNotRunning = errors.New("no worker answers there")

// runningNode opens the node of a worker that has to be running.
func runningNode(ctx context.Context, s streams, dir, hint, what string) (node, error) {
	n, err := openNode(s, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return node{}, fail(codeNotRunning, what, fmt.Errorf("%s is no worker's directory", dir), "start a worker there: ol worker up -d"+hint)
	}
	if err != nil {
		return node{}, err
	}
	if _, err = n.pid(ctx); errors.Is(err, errNotRunning) {
		return node{}, notRunning(n, hint, what)
	}
	if errors.Is(err, fs.ErrPermission) {
		err = nil // another user's worker still serves on its port
	}
	return n, err
}

func notRunning(n node, hint, what string) error {
	return fail(codeNotRunning, what, fmt.Errorf("no worker runs in %s", n.dir), "start it: ol worker up -d"+hint)
}
