package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The failure table of docs/cluster.md on a testbed: real bosses, workers and
// sandboxes, each host in a network of its own.
func TestFailuresOnTheTestbed(t *testing.T) {
	requireTestbed(t)
	b := newBed(t, "--nodes", "3", "--bosses", "3", "--placer", "round-robin")
	if ok, talk := b.install("boss1", "echo"); !ok {
		t.Fatal(talk)
	}
	for _, boss := range []string{"boss2", "boss3"} {
		await(t, boss+" knows the lambda", func() bool { return slices.Contains(b.lambdas(boss), "echo") })
	}
	for _, step := range []struct {
		name string
		run  func(*testing.T, *bed)
	}{
		{"a worker is killed", func(t *testing.T, b *bed) { workersKilled(t, b, "node1") }},
		{"most workers are killed at once", func(t *testing.T, b *bed) { workersKilled(t, b, "node2", "node3") }},
		{"a worker is cut off", workerCutOff},
		{"a worker is paused", workerPaused},
		{"a boss is in the minority", bossInMinority},
		{"the store has no majority", quorumLost},
		{"everything is restarted in turn", restartedInTurn},
	} {
		if !t.Run(step.name, func(t *testing.T) { b.t = t; step.run(t, b) }) {
			break // the next one would find a broken testbed
		}
		b.t = t
	}
}

// only sends to one boss and no other.
func (b *bed) only(boss string) func(int) []string {
	urls := []string{b.url(boss)} // not looked up by the clients, beside a look
	return func(int) []string { return urls }
}

func workersKilled(t *testing.T, b *bed, victims ...string) {
	const clients = 6
	b.eventually("boss1", "first-after-"+victims[0])
	c := startCrowd(t, clients, b.only("boss1"))
	c.goOn(100)
	began := time.Now()
	b.killAtOnce(victims)
	before := 0
	for _, v := range victims {
		b.awaitState("boss1", v, "lost")
	}
	took := time.Since(began)
	for _, v := range victims {
		before += c.by(v)
	}
	// First calls go on.
	b.ol(append([]string{"invoke", "first-after-" + victims[0], "1"}, b.at("boss1")...)...)
	c.goOn(200)
	c.stop()
	for _, v := range victims {
		before -= c.by(v)
	}
	if before != 0 {
		t.Errorf("%d requests were answered by dead workers", -before)
	}
	// The workers die one after the other: who lost a request to the first may
	// have one at the next.
	got, most := c.got(), clients*len(victims)
	if lost := got[http.StatusBadGateway]; lost != c.bad() || lost > most {
		t.Errorf("at most %d requests were in flight, of which nothing but 502 may come: %v, the first: %s", most, got, c.first)
	}
	t.Logf("killed: seen within %.1f s, answers by status %v", took.Seconds(), got)
	for _, v := range victims {
		b.on("start", v)
		b.awaitState("boss1", v, "up")
	}
}

// killAtOnce kills the processes of hosts together.
func (b *bed) killAtOnce(hosts []string) {
	b.t.Helper()
	b.look()
	for _, h := range hosts {
		if err := unix.Kill(b.hosts[h].PID, unix.SIGKILL); err != nil {
			b.t.Fatal(err)
		}
	}
}

func workerCutOff(t *testing.T, b *bed) {
	sandboxes := b.node("boss1", "node2").Sandboxes
	b.on("partition", "node2")
	b.look()
	if h := b.hosts["node2"]; h.Connected || h.PID == 0 {
		t.Errorf("status does not show it: %+v", h)
	}
	took := b.awaitState("boss1", "node2", "lost")
	c := startCrowd(t, 4, b.only("boss1"))
	c.goOn(100)
	c.lossless("while a worker is cut off")
	b.on("heal", "node2")
	t.Logf("cut off: seen after %s, back after %s", took, b.awaitState("boss1", "node2", "up"))
	if after := b.node("boss1", "node2").Sandboxes; after > sandboxes {
		t.Errorf("%d sandboxes are counted, there were %d", after, sandboxes)
	}
}

func workerPaused(t *testing.T, b *bed) {
	b.signal("node3", unix.SIGSTOP)
	defer b.signal("node3", unix.SIGCONT)
	late := 0
	for range 3 { // round-robin: one of them meets it
		if code, _ := b.once("boss1", "500"); code == http.StatusGatewayTimeout {
			late++
		} else if code != http.StatusOK {
			t.Errorf("got %d", code)
		}
	}
	if late != 1 {
		t.Errorf("%d of 3 requests met their deadline", late)
	}
	took := b.awaitState("boss1", "node3", "lost")
	for range 9 {
		if code, at := b.once("boss1", "60000"); code != http.StatusOK || at == "node3" {
			t.Errorf("got %d from %s", code, at)
		}
	}
	b.signal("node3", unix.SIGCONT)
	t.Logf("paused: seen after %s, back after %s", took, b.awaitState("boss1", "node3", "up"))
}

func bossInMinority(t *testing.T, b *bed) {
	b.on("partition", "boss1", "boss2", "boss3")
	c := startCrowd(t, 2, b.only("boss1"))
	c.goOn(50)
	await(t, "boss1 refuses a write", func() bool {
		began := time.Now()
		ok, talk := b.install("boss1", "minority")
		if !ok && !strings.Contains(talk, "503 Service Unavailable") {
			t.Errorf("got %s", talk)
		}
		if !ok {
			t.Logf("a write was refused after %.1f s", time.Since(began).Seconds())
		}
		return !ok
	})
	t.Logf("the majority wrote after %s", b.eventually("boss2", "majority"))
	c.goOn(50)
	c.lossless("in the minority")
	b.on("heal", "boss1")
	took := await(t, "boss1 converges", func() bool { return slices.Contains(b.lambdas("boss1"), "majority") })
	t.Logf("converged after %.1f s", took.Seconds())
}

func quorumLost(t *testing.T, b *bed) {
	b.eventually("boss1", "kept")
	b.on("kill", "boss2")
	b.on("kill", "boss3")
	c := startCrowd(t, 2, b.only("boss1"))
	c.goOn(50)
	await(t, "writes are refused", func() bool { ok, talk := b.install("boss1", "lost"); return !ok && strings.Contains(talk, "503") })
	c.goOn(50)
	c.lossless("without a majority")
	b.on("start", "boss2")
	b.on("start", "boss3")
	t.Logf("writes go on after %s", b.eventually("boss1", "again"))
	for _, boss := range []string{"boss1", "boss2", "boss3"} {
		await(t, boss+" has everything that was acknowledged", func() bool {
			all := b.lambdas(boss)
			return !slices.ContainsFunc([]string{"echo", "majority", "kept", "again"}, func(n string) bool { return !slices.Contains(all, n) })
		})
	}
}

// Rolling upgrade, as docs/cluster.md describes it: workers first, drained each,
// then bosses.
func restartedInTurn(t *testing.T, b *bed) {
	bosses := []string{b.url("boss1"), b.url("boss2"), b.url("boss3")}
	c := startCrowd(t, 4, func(i int) []string {
		i %= len(bosses)
		return slices.Concat(bosses[i:], bosses[:i])
	})
	for i := range 3 {
		node := fmt.Sprintf("node%d", i+1)
		c.goOn(30)
		b.ol(append([]string{"nodes", "drain", node}, b.at("boss1")...)...)
		for _, boss := range []string{"boss1", "boss2", "boss3"} {
			await(t, node+" is empty", func() bool { n := b.node(boss, node); return n.State == "draining" && n.InFlight == 0 })
		}
		b.on("stop", node)
		b.on("start", node)
		for _, boss := range []string{"boss1", "boss2", "boss3"} {
			b.awaitState(boss, node, "up")
		}
	}
	for i := range 3 {
		boss := fmt.Sprintf("boss%d", i+1)
		c.goOn(30)
		b.on("stop", boss)
		b.on("start", boss)
		for _, node := range []string{"node1", "node2", "node3"} {
			b.awaitState(boss, node, "up")
		}
		b.eventually(boss, "after-"+boss)
	}
	c.goOn(30)
	c.lossless("restarted in turn")
}
