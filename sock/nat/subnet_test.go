package nat

import (
	"errors"
	"net/netip"
	"testing"
)

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, s := range texts {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

func TestChoose(t *testing.T) {
	tests := map[string]struct {
		used []netip.Prefix
		want string
	}{
		"free":           {nil, "10.208.0.0/12"},
		"elsewhere":      {prefixes("10.0.0.0/24", "192.168.0.0/16"), "10.208.0.0/12"},
		"wide network":   {prefixes("10.0.0.0/8"), "172.16.0.0/12"},
		"docker as well": {prefixes("10.0.0.0/8", "172.17.0.0/16"), "100.64.0.0/12"},
		"none":           {prefixes("10.0.0.0/8", "172.17.0.0/16", "100.64.0.1/32"), ""},
	}
	for name, tt := range tests {
		got, err := choose(ranges(), tt.used)
		if tt.want == "" {
			if !errors.Is(err, ErrCollision) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		} else if err != nil || got.String() != tt.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestSharesAndPairsDoNotOverlap(t *testing.T) {
	whole := netip.MustParsePrefix("10.208.0.0/12")
	var last netip.Prefix
	for i := range 1 << shareBits {
		s, err := share(whole, i)
		if err != nil || !whole.Overlaps(s) || last.IsValid() && last.Overlaps(s) {
			t.Fatalf("share %d is %v after %v, %v", i, s, last, err)
		}
		last = s
	}
	if _, err := share(whole, 1<<shareBits); err == nil {
		t.Error("there is a share too many")
	}
	seen := map[netip.Addr]bool{last.Addr(): true}
	for n := 1; n <= pairs(last); n++ {
		host, own := pair(last, n)
		if seen[host] || seen[own] || !last.Contains(host) || !last.Contains(own) || host.Next() != own {
			t.Fatalf("pair %d is %v and %v", n, host, own)
		}
		seen[host], seen[own] = true, true
	}
	if next, _ := pair(last, pairs(last)+1); last.Contains(next) {
		t.Errorf("%v is left over", next)
	}
}

func TestCheckRange(t *testing.T) {
	for text, good := range map[string]bool{
		"10.0.0.0/8": true, "10.208.0.0/12": true, "192.168.0.0/20": true,
		"192.168.0.0/21": false, "10.1.0.0/8": false, "fd00::/12": false, "0.0.0.0/0": false,
	} {
		if err := CheckRange(netip.MustParsePrefix(text)); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestFilterResolver(t *testing.T) {
	reachable := func(a netip.Addr) bool { return a.Is4() && !a.IsLoopback() }
	tests := map[string]struct {
		text, want string
		ok         bool
	}{
		"plain":    {"# by hand\nsearch example.com\nnameserver 192.0.2.53\n", "search example.com\nnameserver 192.0.2.53\n", true},
		"loopback": {"nameserver 127.0.0.53\noptions edns0\n", "options edns0\n", false},
		"mixed":    {"nameserver ::1\nnameserver fd00::1\nnameserver  192.0.2.1\n", "nameserver 192.0.2.1\n", true},
		"broken":   {"nameserver\nnameserver x\n", "nameserver\n", false},
	}
	for name, tt := range tests {
		if got, ok := filterResolver(tt.text, reachable); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %q, %t", name, got, ok)
		}
	}
}
