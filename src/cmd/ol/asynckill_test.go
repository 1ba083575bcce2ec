package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
)

// emulatedWorker is a process with one emulated worker: its name, address,
// journal and bosses are its arguments.
func emulatedWorker() int {
	args := os.Args[1:]
	journal, err := os.OpenFile(args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, err = emulate.Start(emulate.Config{
		Name: args[0], Addr: args[1], Journal: journal, Bosses: args[3:], Token: killToken, Poison: "poison", Delay: 250 * time.Millisecond,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	select {} // until it is killed
}

const killToken = "secret-of-the-kill-test"

// Of the kill test: processes, jobs and faults.
const (
	killJobs     = 1000
	killPoison   = 20 // of them
	killFaults   = 12
	killClients  = 8
	killPace     = 100 * time.Millisecond // of one client: jobs come in all the time while processes are killed
	killSeed     = 4
	killPatience = 5 * time.Minute // for everything to be answered on a slow machine
)

// victim is a process that is killed and started again.
type victim struct {
	name string
	args []string
	log  string

	mu    sync.Mutex
	cmd   *exec.Cmd // nil: it does not run
	kills int
}

func (v *victim) start(t *testing.T) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	out, err := os.OpenFile(v.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(v.args[0], v.args[1:]...)
	cmd.Dir, cmd.Stderr = filepath.Dir(v.log), out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v.cmd = cmd
}

// kill is kill -9.
func (v *victim) kill() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cmd == nil {
		return
	}
	_ = v.cmd.Process.Kill() // it may have ended by itself
	_ = v.cmd.Wait()         // it was killed
	v.cmd = nil
	v.kills++
}

// killed is a cluster of processes that are killed.
type killed struct {
	t       *testing.T
	dir     string
	urls    []string
	victims []*victim
	client  *http.Client

	mu   sync.Mutex
	jobs map[string]string // body -> id, of those that were acknowledged
	sent int               // requests to enqueue, repetitions included
}

func newKilled(t *testing.T) *killed {
	k := &killed{t: t, dir: t.TempDir(), jobs: map[string]string{}, client: &http.Client{
		Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true},
	}}
	if err := os.WriteFile(filepath.Join(k.dir, "token"), []byte(killToken), 0o600); err != nil {
		t.Fatal(err)
	}
	addrs := freeAddrs(t, 9)
	peers := strings.Join(addrs[3:6], ",")
	for i := range 3 {
		_, port, err := net.SplitHostPort(addrs[i])
		if err != nil {
			t.Fatal(err)
		}
		k.urls = append(k.urls, "http://"+addrs[i])
		name := fmt.Sprintf("boss%d", i)
		k.add(name, "ol", "boss", "up", "-p", filepath.Join(k.dir, name), "-o", fmt.Sprintf(
			"boss_url=127.0.0.1,boss_port=%s,token_file=%s,store.name=%s,store.listen=%s,store.peers=%q,"+
				"async.lease_sec=2,async.base_ms=100,async.cap_ms=1000,async.slots=8",
			port, filepath.Join(k.dir, "token"), name, addrs[3+i], peers))
	}
	for i := range 3 {
		name := fmt.Sprintf("worker%d", i)
		k.add(name, append([]string{"emulatedworker", name, addrs[6+i], filepath.Join(k.dir, name+".journal")}, k.urls...)...)
	}
	t.Cleanup(func() {
		for _, v := range k.victims {
			v.kill()
		}
		if t.Failed() {
			k.showLogs()
		}
	})
	return k
}

func (k *killed) add(name string, args ...string) {
	v := &victim{name: name, args: args, log: filepath.Join(k.dir, name+".log")}
	v.start(k.t)
	k.victims = append(k.victims, v)
}

func (k *killed) showLogs() {
	for _, v := range k.victims {
		k.t.Logf("last lines of %s:\n%s", v.name, tailOf(v.log, 8))
	}
}

// ask sends a request to one boss and reads its answer, which has to have the
// status want.
func (k *killed) ask(method, url string, body []byte, header http.Header, want int, v any) error {
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Authorization", "Bearer "+killToken)
	resp, err := k.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != want {
		return fmt.Errorf("%s %s: %s: %s", method, url, resp.Status, text)
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(text, v)
}

// insist repeats what fails, with another boss each time, until it succeeds.
func (k *killed) insist(what string, do func(boss string) error) {
	k.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for n, end := 0, time.Now().Add(killPatience); ; n++ {
		err := do(k.urls[n%len(k.urls)])
		if err == nil {
			return
		}
		if time.Now().After(end) {
			k.t.Errorf("%s: in vain: %v", what, err)
			return
		}
		<-tick.C
	}
}

func (k *killed) install(name, yaml string) {
	k.t.Helper()
	dir := k.t.TempDir()
	for file, text := range map[string]string{"f.py": "def f(event): return event\n", "ol.yaml": yaml} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			k.t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	if err := archive.Pack(&packed, dir, "f.py"); err != nil {
		k.t.Fatal(err)
	}
	k.insist("install "+name, func(boss string) error {
		return k.ask(http.MethodPost, boss+api.PathRegistry+name, packed.Bytes(), nil, http.StatusCreated, nil)
	})
}

// enqueue sends job n until a boss acknowledges it. The key makes that safe.
func (k *killed) enqueue(n int) {
	body := fmt.Sprintf("job %d", n)
	path := api.PathRun + "echo?async=true"
	if n%(killJobs/killPoison) == 0 {
		path = api.PathRun + "poison?async=true"
	}
	k.insist("enqueue "+body, func(boss string) error {
		var got struct{ ID string }
		k.mu.Lock()
		k.sent++
		k.mu.Unlock()
		if err := k.ask(http.MethodPost, boss+path, []byte(body), http.Header{api.HeaderIdempotencyKey: {body}}, http.StatusAccepted, &got); err != nil {
			return err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.jobs[body] = got.ID
		return nil
	})
}

// killProgress is how many executions there are between two faults at least:
// what is killed shall be at work, and a store that lost its majority needs
// seconds to elect leaders.
const killProgress = 15

// progress waits until that many more were executed.
func (k *killed) progress() {
	k.t.Helper()
	count := func() (n int) {
		for _, times := range k.executions() {
			n += times
		}
		return n
	}
	begun := count()
	k.insist("progress", func(string) error {
		if n := count() - begun; n < killProgress {
			return fmt.Errorf("%d more executions", n)
		}
		return nil
	})
}

// havoc kills processes at random, and starts each again after a while.
func (k *killed) havoc(r *rand.Rand) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for n := range killFaults {
		k.progress()
		// The test's own pace, not a synchronisation.
		<-time.After(time.Duration(r.IntN(500)) * time.Millisecond)
		down := time.Duration(50+r.IntN(700)) * time.Millisecond
		tickets := []int{0, 1, 2, 3, 3, 4, 4, 5, 5}
		chosen := []*victim{k.victims[tickets[r.IntN(len(tickets))]]}
		if n == killFaults/2 {
			chosen = k.victims // all at once
		}
		for _, v := range chosen {
			v.kill()
			wg.Go(func() {
				<-time.After(down)
				v.restart(k.t)
			})
		}
	}
}

// restart starts a process unless it was started meanwhile.
func (v *victim) restart(t *testing.T) {
	v.mu.Lock()
	running := v.cmd != nil
	v.mu.Unlock()
	if !running {
		v.start(t)
	}
}

// executions counts what the workers wrote down.
func (k *killed) executions() map[string]int {
	k.t.Helper()
	all := map[string]int{}
	files, err := filepath.Glob(filepath.Join(k.dir, "*.journal"))
	if err != nil {
		k.t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			k.t.Fatal(err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			all[lines.Text()]++
		}
	}
	return all
}

// await waits until a job has ended, and returns its state.
func (k *killed) await(id string) (st api.AsyncState) {
	k.t.Helper()
	k.insist("answer of "+id, func(boss string) error {
		if err := k.ask(http.MethodGet, boss+api.PathAsync+id, nil, nil, http.StatusOK, &st); err != nil {
			return err
		}
		if !asyncEnded(st.State) {
			return errors.New("it is " + st.State)
		}
		return nil
	})
	return st
}

// Failure table: all processes are killed (-9) at random points while 1,000
// asynchronous invocations run: three bosses with their stores, three emulated
// workers. Every one that was acknowledged runs at least once, its answer can
// be read, attempts are bounded, and what cannot succeed is in the dead-letter
// list.
func TestAsyncUnderRandomKills(t *testing.T) {
	if testing.Short() {
		t.Skip("six processes are killed some 18 times: left out with -short")
	}
	begun := time.Now()
	k := newKilled(t)
	k.install("echo", "async: {attempts: 20}")
	k.install("poison", "async: {attempts: 3}")
	var load, fault sync.WaitGroup
	next := make(chan int)
	for range killClients {
		load.Go(func() {
			pace := time.NewTicker(killPace)
			defer pace.Stop()
			for n := range next {
				k.enqueue(n)
				<-pace.C
			}
		})
	}
	fault.Go(func() { k.havoc(rand.New(rand.NewPCG(killSeed, killSeed))) })
	for n := range killJobs {
		next <- n
	}
	close(next)
	load.Wait()
	fault.Wait()
	states := map[string]api.AsyncState{}
	for _, id := range k.jobs {
		states[id] = k.await(id)
	}
	k.judge(states, time.Since(begun))
}

// killFigures are what the kill test reports.
type killFigures struct {
	kills, never, twice, lost, attempts, most int
}

func (k *killed) judge(states map[string]api.AsyncState, took time.Duration) {
	k.t.Helper()
	ran := k.executions()
	var f killFigures
	var dead []string
	for body, id := range k.jobs {
		st := states[id]
		k.judgeOne(body, st, ran[id])
		f.lost += st.Lost
		f.attempts += st.Attempts
		f.most = max(f.most, ran[id])
		if ran[id] == 0 {
			f.never++
		}
		if ran[id] > 1 && st.Function == "echo" {
			f.twice++
		}
		if st.State == api.AsyncDead {
			dead = append(dead, id)
		}
	}
	for _, v := range k.victims {
		f.kills += v.kills
	}
	if len(k.jobs) != killJobs || len(ran) < killJobs {
		k.t.Errorf("%d jobs acknowledged, %d ran", len(k.jobs), len(ran))
	}
	var listed []api.AsyncState
	k.insist("list dead letters", func(boss string) error {
		return k.ask(http.MethodGet, boss+api.PathDead, nil, nil, http.StatusOK, &listed)
	})
	for _, st := range listed {
		if !slices.Contains(dead, st.ID) {
			k.t.Errorf("%s is in the dead-letter list, and %s", st.ID, st.State)
		}
	}
	if len(dead) != killPoison || len(listed) != killPoison {
		k.t.Errorf("%d are dead, %d listed, want %d", len(dead), len(listed), killPoison)
	}
	fmt.Printf("random kills, seed %d: %d kill -9 of 3 bosses and 3 workers within %.0f s; %d jobs acknowledged (%d requests), %d of them never ran; "+
		"%d ran more than once, at most %d times; %d attempts counted, %d lost with their boss; %d of %d poison jobs in the dead-letter list\n",
		killSeed, f.kills, took.Seconds(), len(k.jobs), k.sent, f.never, f.twice, f.most, f.attempts, f.lost, len(listed), killPoison)
}

// judgeOne checks one job.
func (k *killed) judgeOne(body string, st api.AsyncState, ran int) {
	k.t.Helper()
	if ran < 1 || ran > st.Attempts+st.Lost {
		k.t.Errorf("%s ran %d times, with %d attempts and %d lost: %+v", body, ran, st.Attempts, st.Lost, st)
	}
	switch {
	case st.Function == "poison" && (st.State != api.AsyncDead || st.Attempts != 3 || st.Status < 500):
		k.t.Errorf("%s: got %+v", body, st)
	case st.Function == "echo" && (st.State != api.AsyncDone || st.Status != 200 || st.Body != body):
		k.t.Errorf("%s: got %+v", body, st)
	}
}
