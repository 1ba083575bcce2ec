package worker

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A message reaches the lambda as OpenLambda's do, through the same door as an
// invocation, even if ol.yaml lets no client in; and new triggers take effect.
func TestKafkaTrigger(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "old", "new"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	producer, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	send := func(topic, value string) {
		t.Helper()
		if err := producer.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	yaml := func(topic string) string {
		return fmt.Sprintf("triggers: {http: [], kafka: [{bootstrap_servers: [%q], topics: [%s], auto_offset_reset: earliest}]}",
			cluster.ListenAddrs()[0], topic)
	}
	got, asked := make(chan string, 100), false
	lambdas := lambdas{"plain": nil, "f": func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		h := r.Header
		if r.Method != http.MethodPost || r.URL.Path != "/run/f/" || h.Get("X-Kafka-Partition") != "0" || h.Get("X-Kafka-Group-Id") != "lambda-f" ||
			h.Get(api.HeaderTrigger) != api.TriggerKafka {
			t.Errorf("got %s %s %v", r.Method, r.URL, h)
		}
		at := h.Get("X-Kafka-Topic") + " " + h.Get("X-Kafka-Offset") + " " + string(body)
		if at == "old 1 b" && !asked {
			asked = true
			w.Header().Set("X-Kafka-Seek-Offset", "0")
		}
		got <- at
	}}
	n := newNode(t, lambdas, map[string]string{"f": yaml("old")}, func(c *config.Config) {
		c.Kafka = map[string]any{"base_ms": 10, "cap_ms": 20}
	})
	next := func(want string) {
		t.Helper()
		select {
		case at := <-got:
			if at != want {
				t.Errorf("got %q, want %q", at, want)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("waited in vain for %q", want)
		}
	}
	send("old", "a")
	send("old", "b")
	n.expect(n.do("POST", "/kafka/register/nobody", nil), 404, "unknown-lambda")
	n.expect(n.do("POST", "/kafka/register/plain", nil), 409, "no-kafka-trigger")
	n.expect(n.do("POST", "/run/f/", nil), 405, "not allowed")
	n.expect(n.do("POST", "/kafka/register/f", nil), 200, "registered")
	n.expect(n.do("GET", "/kafka/register/", nil), 200, `["f"]`)
	for range 2 { // b asks for a again
		next("old 0 a")
		next("old 1 b")
	}
	// The consumers stop, and start with what ol.yaml says by then.
	n.expect(n.do("DELETE", "/kafka/register/f", nil), 200, "unregistered")
	n.expect(n.do("DELETE", "/kafka/register/f", nil), 404, "not-registered")
	write(t, n.dir+"/registry/f/ol.yaml", yaml("new"))
	n.Changed([]string{"f"})
	send("new", "c")
	n.expect(n.do("POST", "/kafka/register/f", nil), 200, "registered")
	next("new 0 c")
}

// A worker without bosses says what it does not do by itself.
func TestTriggersWithoutBoss(t *testing.T) {
	n := newNode(t, nil, nil, nil)
	r := n.do("POST", "/registry/f", pack(t, "f.py", "1", "ol.yaml",
		"triggers: {cron: [{schedule: '@hourly'}], kafka: [{bootstrap_servers: ['k:1'], topics: [t]}]}"))
	if w := r.header.Values(api.HeaderWarning); len(w) != 2 || !strings.Contains(w[0], "triggers.cron") || !strings.Contains(w[1], "/kafka/register/") {
		t.Errorf("warnings %q", w)
	}
}
