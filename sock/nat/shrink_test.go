package nat_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/sock/nat"
	"github.com/open-lambda/open-lambda/sock/nat/nattest"
)

// links counts those of workers. They come and go meanwhile, so it is no matter
// of one or two.
func links(t *testing.T) (n int) {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range all {
		if strings.HasPrefix(link.Name, "ollb") {
			n++
		}
	}
	return n
}

// What a burst took is given back, and its addresses are used again: the worker
// keeps no more namespaces than it is likely to need.
func TestBurstIsGivenBack(t *testing.T) {
	nattest.Run(t, func(t *testing.T) {
		n := open(t, "burst", 6)
		addresses := map[string]bool{}
		for round := range 2 {
			var all []*nat.Lease
			for range 100 {
				l := get(t, n)
				addresses[l.Address.String()] = true
				all = append(all, l)
			}
			if now := links(t); now < 98 {
				t.Errorf("round %d: %d links for 100 sandboxes", round, now)
			}
			last := all[len(all)-1]
			if got := fetch(t, last, nattest.Internet+":80"); got != nattest.Host {
				t.Errorf("round %d: no way out from %s: %q", round, last.Address, got)
			}
			for _, l := range all {
				n.Put(l)
			}
			deadline := time.Now().Add(time.Minute)
			for links(t) > 70 { // 2 ahead, 64 to spare, and a batch that is on its way
				if time.Now().After(deadline) {
					t.Fatalf("round %d: there are still %d links", round, links(t))
				}
				<-time.After(20 * time.Millisecond)
			}
		}
		if len(addresses) > 110 {
			t.Errorf("100 sandboxes at a time took %d addresses", len(addresses))
		}
	})
}
