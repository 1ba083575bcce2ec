package sock_test

import (
	"testing"

	"github.com/open-lambda/open-lambda/sock"
)

// containers makes a provider of OCI containers for a test.
func containers(t *testing.T, change func(*sock.Config)) sock.Maker {
	t.Helper()
	needCgo(t)
	cfg := sock.Settings(t)
	if change != nil {
		change(&cfg)
	}
	p, err := newContainers(cfg)
	if err != nil {
		t.Fatal(err)
	}
	sock.CloseAfter(t, p)
	return p
}

func needCgo(t *testing.T) {
	t.Helper()
	if !haveCgo {
		t.Skip("NOT RUN: OCI containers need cgo, that is, a C compiler when this test was built")
	}
}

func TestContractOfContainers(t *testing.T) {
	p := containers(t, nil)
	for _, c := range sock.Contract() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, p) })
	}
}

func TestLeaksOfContainers(t *testing.T) {
	needCgo(t)
	for name, run := range sock.Leaks() {
		t.Run(name, func(t *testing.T) { run(t, kinds()["runc"]) })
	}
}
