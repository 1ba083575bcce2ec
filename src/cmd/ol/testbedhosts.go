package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/testbed"
)

const (
	maxTestbedNodes = 50
	testbedPort     = "5000" // of every boss and worker
	groupPort       = "6222" // of bosses among each other
)

// testbedState is what a testbed must remember to be taken down by another
// process.
type testbedState struct {
	dir     string
	Prefix  string         `json:"prefix"`
	Subnet  string         `json:"subnet"`
	Placer  string         `json:"placer"`
	Options string         `json:"options"` // of the workers
	PoolMB  int            `json:"pool_mb"` // of one worker
	Hosts   []testbed.Host `json:"hosts"`
}

// newTestbed describes a testbed and writes that down before anything is made.
// Names and addresses follow from the directory, so that several can be up.
func newTestbed(dir string, nodes, bosses int, placer, options string) (*testbedState, error) {
	ram, err := config.MachineMB()
	if err != nil {
		return nil, err
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(dir)) // never fails
	sum := h.Sum32()
	t := &testbedState{
		dir: dir, Prefix: fmt.Sprintf("ol%03x", sum&0xfff), Subnet: fmt.Sprintf("10.77.%d", sum>>12&0xff),
		Placer: placer, Options: options, PoolMB: max((ram-leastPoolMB)/nodes, leastPoolMB),
	}
	for i := range bosses {
		t.Hosts = append(t.Hosts, testbed.Host{Name: fmt.Sprintf("boss%d", i+1), Last: 101 + i})
	}
	for i := range nodes {
		t.Hosts = append(t.Hosts, testbed.Host{Name: fmt.Sprintf("node%d", i+1), Last: 11 + i})
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	text, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(testbedFile(dir), text, 0o644); err != nil {
		return nil, fmt.Errorf("write down testbed: %w", err)
	}
	return t, os.WriteFile(t.tokenFile(), []byte(rand.Text()+"\n"), 0o600)
}

func loadTestbed(dir string) (*testbedState, error) {
	text, err := os.ReadFile(testbedFile(dir))
	if err != nil {
		return nil, err
	}
	t := &testbedState{dir: dir}
	if err := json.Unmarshal(text, t); err != nil {
		return nil, fmt.Errorf("read %s: %w", testbedFile(dir), err)
	}
	return t, nil
}

func (t *testbedState) network() testbed.Network {
	return testbed.Network{Prefix: t.Prefix, Subnet: t.Subnet}
}
func (t *testbedState) tokenFile() string          { return filepath.Join(t.dir, "token") }
func (t *testbedState) hostDir(name string) string { return filepath.Join(t.dir, name) }
func (t *testbedState) log(name string) string     { return filepath.Join(t.dir, name+".out") }

func (t *testbedState) url(h testbed.Host) string {
	return "http://" + t.network().Address(h) + ":" + testbedPort
}

func isBoss(h testbed.Host) bool { return strings.HasPrefix(h.Name, "boss") }

func (t *testbedState) host(name string) (testbed.Host, bool) {
	for _, h := range t.Hosts {
		if h.Name == name {
			return h, true
		}
	}
	return testbed.Host{}, false
}

// bosses lists the bosses' URLs.
func (t *testbedState) bosses() string {
	var urls []string
	for _, h := range t.Hosts {
		if isBoss(h) {
			urls = append(urls, t.url(h))
		}
	}
	return strings.Join(urls, ",")
}

func (t *testbedState) peers() []string {
	var peers []string
	for _, h := range t.Hosts {
		if isBoss(h) {
			peers = append(peers, t.network().Address(h)+":"+groupPort)
		}
	}
	return peers
}

// options are those of the process on a host.
func (t *testbedState) options(h testbed.Host) string {
	at := t.network().Address(h)
	if !isBoss(h) {
		o := fmt.Sprintf("worker_url=%s,worker_port=%s,mem_pool_mb=%d,cluster.bosses=%q,cluster.name=%s,cluster.token_file=%q",
			at, testbedPort, t.PoolMB, t.bosses(), h.Name, t.tokenFile())
		return strings.TrimSuffix(o+","+t.Options, ",")
	}
	o := fmt.Sprintf("boss_url=%s,boss_port=%s,insecure=true,placer=%s,token_file=%q,store.name=%s", at, testbedPort, t.Placer, t.tokenFile(), h.Name)
	if peers := t.peers(); len(peers) > 1 {
		o += fmt.Sprintf(",store.listen=%s:%s,store.peers=%q", at, groupPort, strings.Join(peers, ","))
	}
	return o
}

// up makes the network and starts every process.
func (t *testbedState) up(ctx context.Context, s streams) error {
	if err := t.network().Up(t.Hosts); err != nil {
		return err
	}
	for _, h := range t.Hosts {
		s.say("starting %s at %s", h.Name, t.url(h))
		if err := t.start(ctx, s, h); err != nil {
			return fmt.Errorf("start %s: %w", h.Name, err)
		}
	}
	return nil
}

// start starts the process of a host and waits until it serves.
func (t *testbedState) start(ctx context.Context, s streams, h testbed.Host) error {
	dir := t.hostDir(h.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	if !waitStopped(dir) {
		return errors.New("it runs already")
	}
	kind := "worker"
	if isBoss(h) {
		kind = "boss"
	}
	var pid int
	err := t.network().In(h.Name, func() (err error) {
		pid, err = spawnArgs(s, []string{"ol", kind, "up", "-p", dir, "-o", t.options(h)}, t.log(h.Name), forGood)
		return err
	})
	if err != nil {
		return err
	}
	if isBoss(h) {
		_, err = awaitBoss(ctx, s, dir, pid)
	} else {
		_, err = awaitReady(ctx, s, dir, pid)
	}
	if err != nil {
		endChild(pid)
		return fmt.Errorf("%w\n%s", err, tailOf(t.log(h.Name), lastLines))
	}
	return nil
}

// endLimit is how long a process of the testbed may take to drain.
const endLimit = 40 * time.Second

// signal sends a signal to the process of a host and waits for its end.
func (t *testbedState) signal(name string, sig unix.Signal) error {
	process, err := holderProcess(t.hostDir(name))
	if err != nil || process == nil {
		return err
	}
	return signalAndWait(context.Background(), process, sig, endLimit)
}

// removeTestbed ends every process of the testbed in dir, removes its network,
// and then the directory. Whatever is missing already is no error.
func removeTestbed(ctx context.Context, s streams, dir string) error {
	ctx = context.WithoutCancel(ctx) // whoever is interrupted cleans up too
	t, err := loadTestbed(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fail(codeFailed, "remove testbed", err, "")
	}
	var errs []error
	for _, h := range t.Hosts {
		if err := t.clean(ctx, s, h); err != nil {
			errs = append(errs, fmt.Errorf("end %s: %w", h.Name, err))
		}
	}
	errs = append(errs, t.network().Down())
	if err := errors.Join(errs...); err != nil {
		return fail(codeFailed, "remove testbed", err, "type it again: ol testbed down")
	}
	return removeDir(dir)
}

// clean ends the process of a host, and what a killed one has left.
func (t *testbedState) clean(ctx context.Context, s streams, h testbed.Host) error {
	if err := t.signal(h.Name, unix.SIGINT); err != nil {
		if err := t.signal(h.Name, unix.SIGKILL); err != nil {
			return err
		}
	}
	dir := t.hostDir(h.Name)
	if isBoss(h) || !exists(filepath.Join(dir, configFile)) {
		return nil
	}
	n, err := openNode(s, dir)
	if err != nil {
		return err
	}
	return cleanNode(ctx, n)
}
