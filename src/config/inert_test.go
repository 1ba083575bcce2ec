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
	if want := []string{"kafka", "storage.root", "trace.memory"}; !slices.Equal(got, want) {
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
