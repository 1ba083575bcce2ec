package sock_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/runc"
	"github.com/open-lambda/open-lambda/sock/runc/oci"
)

// The test binary is also the helper of OCI containers and the first process
// of one, as ol-runc is, and an owner of sandboxes that waits to be killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && (os.Args[1] == "init" || os.Args[1] == "serve") {
		os.Exit(oci.Main(os.Args[1:], haveCgo))
	}
	if dir := os.Getenv(sock.OwnerDir); dir != "" {
		exit(sock.Own(kinds()[os.Getenv(sock.OwnerKind)], dir))
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// kinds of providers by name.
func kinds() map[string]sock.Kind {
	return map[string]sock.Kind{
		"sock": {Name: "sock", New: func(cfg sock.Config) (sock.Maker, error) { return sock.New(cfg) }, Clean: sock.Clean},
		"runc": {Name: "runc", New: newContainers, Clean: runc.Clean},
	}
}

// newContainers makes a provider of containers with this program as the helper.
func newContainers(cfg sock.Config) (sock.Maker, error) {
	p, err := runc.New(runc.Config{Config: cfg, Helper: "/proc/self/exe"})
	if err != nil {
		return nil, err // not a nil *Provider in an interface
	}
	return p, nil
}
