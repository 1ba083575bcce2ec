package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// patience is how long a test waits for what must happen in the end.
const patience = 2 * time.Minute

// bed is a Kafka, a producer, and what lambdas were invoked for.
type bed struct {
	t       *testing.T
	brokers []string
	client  *kgo.Client

	mu     sync.Mutex
	got    map[string][]string // values by topic/partition, in the order of handling
	answer http.HandlerFunc    // nil: 200
	lambda map[string][]lambda.KafkaTrigger
}

func newBed(t *testing.T, partitions int32, topics ...string) *bed {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, topics...), kfake.GroupMinSessionTimeout(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &bed{t: t, brokers: cluster.ListenAddrs(), client: client, got: map[string][]string{}, lambda: map[string][]lambda.KafkaTrigger{}}
}

// send produces numbered messages into a partition.
func (b *bed) send(topic string, partition int32, values ...string) {
	b.t.Helper()
	for _, v := range values {
		r := &kgo.Record{Topic: topic, Partition: partition, Value: []byte(v)}
		if err := b.client.ProduceSync(b.t.Context(), r).FirstErr(); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *bed) define(name string, triggers ...lambda.KafkaTrigger) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lambda[name] = triggers
}

// trigger is one that reads topics from their beginning.
func (b *bed) trigger(topics ...string) lambda.KafkaTrigger {
	return lambda.KafkaTrigger{BootstrapServers: b.brokers, Topics: topics, AutoOffsetReset: "earliest"}
}

var errUnknown = errors.New("no such lambda")

func (b *bed) lookup(_ context.Context, name string) ([]lambda.KafkaTrigger, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.lambda[name]
	if !ok {
		return nil, true, errUnknown
	}
	return t, false, nil
}

func (b *bed) run(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Error(err)
	}
	h := r.Header
	if r.Method != http.MethodPost || h.Get(api.HeaderTrigger) != api.TriggerKafka || r.URL.Path != "/run/f/" || h.Get(HeaderGroup) != "lambda-f" {
		b.t.Errorf("got %s %s %v", r.Method, r.URL, h)
	}
	b.mu.Lock()
	at := h.Get(HeaderTopic) + "/" + h.Get(HeaderPartition)
	b.got[at] = append(b.got[at], string(body)+"@"+h.Get(HeaderOffset))
	answer := b.answer
	b.mu.Unlock()
	if answer != nil {
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		answer(w, r)
	}
}

func (b *bed) handled(at string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.got[at])
}

func (b *bed) answerWith(h http.HandlerFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer = h
}

func (b *bed) manager(retry Retry) *Manager {
	b.t.Helper()
	m, err := New(Config{Triggers: b.lookup, Run: http.HandlerFunc(b.run), Retry: retry})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(m.Close)
	return m
}

func (b *bed) await(what string, ok func() bool) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			b.t.Fatalf("waited in vain for: %s; handled %v", what, b.got)
		}
	}
}

func (b *bed) awaitHandled(at string, want ...string) {
	b.t.Helper()
	b.await(fmt.Sprintf("%v in %s", want, at), func() bool { return len(b.handled(at)) >= len(want) })
	if got := b.handled(at); !slices.Equal(got, want) {
		b.t.Errorf("%s: handled %v, want %v", at, got, want)
	}
}

// committed is the group's offset; -1: none.
func (b *bed) committed(topic string, partition int32) int64 {
	b.t.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = "lambda-f"
	req.Groups = append(req.Groups, g)
	resp, err := req.RequestWith(b.t.Context(), b.client)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, g := range resp.Groups {
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if t.Topic == topic && p.Partition == partition {
					return p.Offset
				}
			}
		}
	}
	return -1
}

func (b *bed) register(m *Manager) {
	b.t.Helper()
	if err := m.Register(b.t.Context(), "f"); err != nil {
		b.t.Fatal(err)
	}
}

// An offset is committed after the answer, and not before.
func TestMessages(t *testing.T) {
	b := newBed(t, 2, "t", "u")
	b.define("f", b.trigger("t"), b.trigger("u"))
	gate := make(chan struct{})
	b.answerWith(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get(HeaderOffset) == "2" {
			<-gate
		}
	})
	m := b.manager(Retry{})
	b.register(m)
	b.send("t", 0, "a", "b", "c")
	b.send("u", 1, "x")
	b.awaitHandled("t/0", "a@0", "b@1", "c@2")
	b.awaitHandled("u/1", "x@0")
	if at := b.committed("t", 0); at > 2 {
		t.Errorf("committed %d before the answer", at)
	}
	close(gate)
	b.await("the commit", func() bool { return b.committed("t", 0) == 3 && b.committed("u", 1) == 1 })
	// Whoever comes later goes on from there.
	m.Close()
	b.send("t", 0, "d")
	b.register(b.manager(Retry{}))
	b.awaitHandled("t/0", "a@0", "b@1", "c@2", "d@3")
}

// A message that fails holds up its partition only, until it succeeds.
func TestFailedMessageIsHandledAgain(t *testing.T) {
	b := newBed(t, 2, "t")
	b.define("f", b.trigger("t"))
	var mu sync.Mutex
	failures := 0
	b.answerWith(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if string(body) == "bad" && failures < 3 {
			failures++
			w.WriteHeader([]int{500, 503, 429}[failures-1])
		}
	})
	b.send("t", 0, "good", "bad", "after")
	b.send("t", 1, "other")
	b.register(b.manager(Retry{Base: 20 * time.Millisecond, Cap: 50 * time.Millisecond}))
	b.awaitHandled("t/0", "good@0", "bad@1", "bad@1", "bad@1", "bad@1", "after@2")
	b.awaitHandled("t/1", "other@0")
	b.await("the commit", func() bool { return b.committed("t", 0) == 3 })
}

func TestMessageIsGivenUp(t *testing.T) {
	b := newBed(t, 1, "t")
	b.define("f", b.trigger("t"))
	b.answerWith(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(HeaderOffset) == "0" {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(404) // no failure that another attempt could mend
	})
	b.send("t", 0, "bad", "missing")
	b.register(b.manager(Retry{Base: time.Millisecond, Cap: time.Millisecond, Attempts: 3}))
	b.awaitHandled("t/0", "bad@0", "bad@0", "bad@0", "missing@1")
	b.await("the commit", func() bool { return b.committed("t", 0) == 2 })
}

// The answer's header says which message is next, and that is committed.
func TestSeek(t *testing.T) {
	b := newBed(t, 1, "t")
	b.define("f", b.trigger("t"))
	seen := map[string]bool{}
	b.answerWith(func(w http.ResponseWriter, r *http.Request) { // one partition: one at a time
		at := r.Header.Get(HeaderOffset)
		to := map[string]string{"2": "0", "3": "6", "6": "nonsense"}[at]
		if to != "" && !seen[at] {
			w.Header().Set(HeaderSeek, to)
		}
		seen[at] = true
	})
	b.send("t", 0, "a", "b", "c", "d", "e", "f", "g", "h")
	b.register(b.manager(Retry{}))
	b.awaitHandled("t/0", "a@0", "b@1", "c@2", "a@0", "b@1", "c@2", "d@3", "g@6", "h@7")
	b.await("the commit", func() bool { return b.committed("t", 0) == 8 })
}

// Two workers share the partitions; when one goes, the other takes them all.
func TestGroupOfTwo(t *testing.T) {
	b := newBed(t, 4, "t")
	b.define("f", b.trigger("t"))
	var mu sync.Mutex
	by := map[string]int{}
	worker := func(name string) *Manager {
		m, err := New(Config{Triggers: b.lookup, Run: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			by[name]++
			mu.Unlock()
			b.run(w, r)
		})})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		return m
	}
	one, two := worker("one"), worker("two")
	b.register(one)
	two.Assign("boss", []string{"f"})
	round := 0
	all := func() {
		for p := range int32(4) {
			b.send("t", p, strconv.Itoa(round))
		}
		round++
	}
	b.await("both to have work", func() bool {
		all()
		mu.Lock()
		defer mu.Unlock()
		return by["one"] > 0 && by["two"] > 0
	})
	one.Close()
	all()
	for p := range 4 {
		at := "t/" + strconv.Itoa(p)
		b.await("every message of "+at, func() bool {
			values := map[string]bool{}
			for _, v := range b.handled(at) {
				value, _, _ := strings.Cut(v, "@")
				values[value] = true
			}
			return len(values) == round
		})
	}
}

// Consumers follow the lambda's triggers, and those who want them.
func TestWhatRuns(t *testing.T) {
	b := newBed(t, 1, "t", "u")
	m := b.manager(Retry{})
	if err := m.Register(t.Context(), "f"); !errors.Is(err, errUnknown) {
		t.Errorf("got %v", err)
	}
	b.define("f")
	if err := m.Register(t.Context(), "f"); !errors.Is(err, ErrNoTrigger) {
		t.Errorf("got %v", err)
	}
	b.define("f", b.trigger("t"))
	m.Assign("a", []string{"f"})
	m.Assign("b", []string{"f"})
	b.send("t", 0, "1")
	b.awaitHandled("t/0", "1@0")
	b.define("f", b.trigger("u"))
	m.Changed("f")
	b.send("u", 0, "2")
	b.awaitHandled("u/0", "2@0")
	m.Unlinked("a")
	m.Unlinked("b") // the last word stays
	b.send("u", 0, "3")
	b.awaitHandled("u/0", "2@0", "3@1")
	m.Assign("b", nil)
	if got := m.Names(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	b.await("the commit", func() bool { return b.committed("u", 0) == 2 })
}

func TestHandler(t *testing.T) {
	b := newBed(t, 1, "t")
	b.define("f", b.trigger("t"))
	b.define("g")
	h := b.manager(Retry{}).Handler(func(w http.ResponseWriter, _ *http.Request, name string, err error) {
		http.Error(w, name+": "+err.Error(), http.StatusNotFound)
	})
	for _, tc := range []struct {
		method, path string
		status       int
		text         string
	}{
		{"GET", "", 200, "[]"},
		{"POST", "f", 200, `"registered"`},
		{"POST", "f", 200, `"registered"`},
		{"GET", "", 200, `["f"]`},
		{"POST", "g", 409, "no-kafka-trigger"},
		{"POST", "x", 404, "x: no such lambda"},
		{"POST", "a%20b", 400, "bad-name"},
		{"PUT", "f", 405, "method-not-allowed"},
		{"DELETE", "f", 200, "unregistered"},
		{"DELETE", "f", 404, "not-registered"},
		{"GET", "", 200, "[]"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(tc.method, Path+tc.path, nil))
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.text) {
			t.Errorf("%s %s: got %d %s", tc.method, tc.path, w.Code, w.Body)
		}
	}
}

// A Kafka that cannot be reached holds nothing up.
func TestNoKafka(t *testing.T) {
	b := newBed(t, 1, "t")
	b.define("f", lambda.KafkaTrigger{BootstrapServers: []string{"127.0.0.1:1"}, Topics: []string{"t"}})
	m := b.manager(Retry{})
	b.register(m)
	begun := time.Now()
	m.Close()
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("closing took %v", took)
	}
	if _, err := New(Config{}); err == nil {
		t.Error("a manager without lambdas was made")
	}
}
