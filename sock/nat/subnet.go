package nat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// shares is into how many parts the workers of a host cut their common range,
// as a power of two: as many as there are blocks of user ids.
const shareBits = 7

// ranges are private ranges that are tried in turn, the first that overlaps
// nothing of the host's (RFC 1918, RFC 6598).
func ranges() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("10.208.0.0/12"),
		netip.MustParsePrefix("172.16.0.0/12"),
		netip.MustParsePrefix("100.64.0.0/12"),
	}
}

// ErrCollision says that no range is free.
var ErrCollision = errors.New("every private range that was tried is in use on this host")

// choose picks the first range that overlaps none of those in use.
func choose(candidates, used []netip.Prefix) (netip.Prefix, error) {
	for _, c := range candidates {
		free := true
		for _, u := range used {
			free = free && !c.Overlaps(u)
		}
		if free {
			return c, nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("choose addresses for sandboxes: %w", ErrCollision)
}

// CheckRange reports a range that cannot be shared out.
func CheckRange(r netip.Prefix) error {
	if !r.IsValid() || !r.Addr().Is4() || r.Bits() < 8 || r.Bits() > 20 || r != r.Masked() {
		return fmt.Errorf("range %s is not an IPv4 network of 8 to 20 bits, as 10.208.0.0/12 is", r)
	}
	return nil
}

// share is the part of a range that the worker with an index has.
func share(r netip.Prefix, index int) (netip.Prefix, error) {
	if index < 0 || index >= 1<<shareBits {
		return netip.Prefix{}, fmt.Errorf("share out addresses: worker %d is one of more than %d", index, 1<<shareBits)
	}
	bits := r.Bits() + shareBits
	return netip.PrefixFrom(offset(r.Addr(), uint32(index)<<(32-bits)), bits), nil
}

// pairs is how many sandboxes a share has addresses for. The first pair, which
// has the network's own address, is left out.
func pairs(s netip.Prefix) int { return 1<<(31-s.Bits()) - 1 }

// pair returns the addresses of a link, numbered from 1: the host's end and the
// sandbox' (RFC 3021).
func pair(s netip.Prefix, n int) (host, sandbox netip.Addr) {
	host = offset(s.Addr(), uint32(2*n))
	return host, host.Next()
}

func offset(a netip.Addr, n uint32) netip.Addr {
	b := a.As4()
	binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])+n)
	return netip.AddrFrom4(b)
}
