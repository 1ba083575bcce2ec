package config

import (
	"slices"
	"testing"
)

func TestInert(t *testing.T) {
	c, err := Load(base(), Sources{Overrides: `limits.mem_mb=60,storage.root=memory,trace.memory=true,kafka={"a": 1},policy=ttl`})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Inert(base())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"kafka.a", "storage.root", "trace.memory"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, err := base().Inert(base()); err != nil || len(got) > 0 {
		t.Errorf("of the defaults: got %v, %v", got, err)
	}
}

// Every inert key exists: when one comes to life it must leave the list.
func TestInertKeysExist(t *testing.T) {
	tr, err := newTree(base())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range inertKeys() {
		if _, ok := tr.lookup(k); !ok {
			t.Errorf("there is no key %q", k)
		}
	}
}

func TestKafkaRetry(t *testing.T) {
	c, err := Load(base(), Sources{Overrides: `kafka={"a": 1}`})
	if err != nil {
		t.Fatal(err)
	}
	if k, err := c.KafkaRetry(); err != nil || k != (Kafka{BaseMS: 1000, CapMS: 60_000}) {
		t.Errorf("got %+v, %v", k, err)
	}
	c.Kafka = map[string]any{"base_ms": 5, "max_attempts": 3}
	if k, err := c.KafkaRetry(); err != nil || k != (Kafka{BaseMS: 5, CapMS: 60_000, MaxAttempts: 3}) || c.Validate() != nil {
		t.Errorf("got %+v, %v, %v", k, err, c.Validate())
	}
	for _, bad := range []map[string]any{{"base_ms": "x"}, {"base_ms": 0}, {"base_ms": 5, "cap_ms": 4}, {"max_attempts": -1}} {
		c.Kafka = bad
		if err := c.Validate(); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}
