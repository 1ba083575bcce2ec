package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/pause"
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
	Options string         `json:"options"`  // of the workers
	PoolMB  int            `json:"pool_mb"`  // of one worker
	Relays  string         `json:"relays"`   // "" without a delay
	Delay   time.Duration  `json:"delay_ns"` // of what hosts send one another, each way
	Hosts   []testbed.Host `json:"hosts"`
}

// newTestbed describes a testbed and writes that down before anything is made.
// Names and addresses follow from the directory, so that several can be up.
func newTestbed(dir string, c *cli.Context) (*testbedState, error) {
	nodes, bosses := c.Int("nodes"), c.Int("bosses")
	ram, err := config.MachineMB()
	if err != nil {
		return nil, err
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(dir)) // never fails
	sum := h.Sum32()
	t := &testbedState{
		dir: dir, Prefix: fmt.Sprintf("ol%04x", sum&0xffff), Subnet: subnet(firstSubnet, sum>>16),
		Placer: c.String("placer"), Options: c.String("options"), PoolMB: max((ram-leastPoolMB)/nodes, leastPoolMB), Delay: c.Duration("delay"),
	}
	if t.Delay > 0 {
		t.Relays = subnet(firstRelays, sum>>16)
	}
	for i := range bosses {
		t.Hosts = append(t.Hosts, testbed.Host{Name: fmt.Sprintf("boss%d", i+1), Last: 101 + i})
	}
	for i := range nodes {
		t.Hosts = append(t.Hosts, testbed.Host{Name: fmt.Sprintf("node%d", i+1), Last: 11 + i})
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

// Hosts have addresses from 10.64.0.0/10, what relays to them those from
// 10.128.0.0/10.
const (
	firstSubnet = 64
	firstRelays = 128
)

func subnet(first, n uint32) string { return fmt.Sprintf("10.%d.%d", first+n>>8&63, n&0xff) }

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
	return testbed.Network{Prefix: t.Prefix, Subnet: t.Subnet, Relays: t.Relays}
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

// bosses lists what address returns for each boss.
func (t *testbedState) bosses(address func(testbed.Host) string) string {
	var all []string
	for _, h := range t.Hosts {
		if isBoss(h) {
			all = append(all, address(h))
		}
	}
	return strings.Join(all, ",")
}

// between is the address under which other hosts reach one.
func (t *testbedState) between(h testbed.Host) string {
	if t.Relays == "" {
		return t.network().Address(h)
	}
	return t.network().RelayAddress(h)
}

// urlBetween is the URL under which other hosts reach one.
func (t *testbedState) urlBetween(h testbed.Host) string {
	return "http://" + t.between(h) + ":" + testbedPort
}

// peers are the group's bosses as one of them names them.
func (t *testbedState) peers(self testbed.Host) string {
	return t.bosses(func(h testbed.Host) string {
		if h == self {
			return t.network().Address(h) + ":" + groupPort
		}
		return t.between(h) + ":" + groupPort
	})
}

// grouped tells whether there are several bosses.
func (t *testbedState) grouped() bool { return len(t.Hosts) > 1 && isBoss(t.Hosts[1]) }

// options are those of the process on a host.
func (t *testbedState) options(h testbed.Host) string {
	at := t.network().Address(h)
	if !isBoss(h) {
		o := fmt.Sprintf("worker_url=%s,worker_port=%s,mem_pool_mb=%d,cluster.bosses=%q,cluster.name=%s,cluster.advertise=%s,cluster.token_file=%q,cluster.insecure=true",
			at, testbedPort, t.PoolMB, t.bosses(t.urlBetween), h.Name, t.urlBetween(h), t.tokenFile())
		return strings.TrimSuffix(o+","+t.Options, ",")
	}
	o := fmt.Sprintf("boss_url=%s,boss_port=%s,insecure=true,placer=%s,token_file=%q,store.name=%s", at, testbedPort, t.Placer, t.tokenFile(), h.Name)
	if t.grouped() {
		o += fmt.Sprintf(",store.listen=%s:%s,store.peers=%q", at, groupPort, t.peers(h))
	}
	return o
}

// up makes the network and starts every process.
func (t *testbedState) up(ctx context.Context, s streams) error {
	if err := t.network().Up(t.Hosts); err != nil {
		return err
	}
	if err := t.startRelay(ctx, s); err != nil {
		return err
	}
	for _, h := range t.Hosts {
		s.say("starting %s at %s", h.Name, t.url(h))
		if err := t.start(ctx, s, h); err != nil {
			return fmt.Errorf("start %s: %w", h.Name, err)
		}
	}
	return t.awaitStore(ctx)
}

// awaitStore waits until every boss' registry can be written, which takes a
// group of three a few seconds.
func (t *testbedState) awaitStore(ctx context.Context) error {
	token, err := readToken(t.tokenFile())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	for _, h := range t.Hosts {
		if !isBoss(h) {
			continue
		}
		b, err := newBossClient(t.url(h), token, nil)
		if err != nil {
			return err
		}
		var st api.BossStatus
		for {
			if err := b.getJSON(ctx, api.PathStatus, &st); err == nil && st.Registry == api.RegistryOK {
				break
			}
			if !pause.For(ctx, readyPause) {
				return fmt.Errorf("wait for the registry of %s: %s", h.Name, st.Registry)
			}
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
