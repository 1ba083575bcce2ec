package nat

import (
	"net"
	"net/netip"
	"os"
	"strings"
)

// resolverFiles say where names are looked up, the ordinary one first. Where
// systemd-resolved answers on a loopback address, the second has the servers
// that it asks itself.
func resolverFiles() []string {
	return []string{"/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"}
}

// Resolver is the resolv.conf(5) for sandboxes: the host's, without the servers
// that a sandbox cannot reach, because they are on the host itself or have no
// IPv4 address. It is "" if no server is left.
func Resolver() string {
	local := map[netip.Addr]bool{}
	if addrs, err := net.InterfaceAddrs(); err == nil {
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				local[p.Addr()] = true
			}
		}
	}
	reachable := func(a netip.Addr) bool { return a.Is4() && !a.IsLoopback() && !a.IsUnspecified() && !local[a] }
	for _, file := range resolverFiles() {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if text, ok := filterResolver(string(raw), reachable); ok {
			return text
		}
	}
	return ""
}

// filterResolver drops the servers that cannot be reached, and says whether one
// is left.
func filterResolver(text string, reachable func(netip.Addr) bool) (string, bool) {
	var kept strings.Builder
	any := false
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") || strings.HasPrefix(fields[0], ";") {
			continue
		}
		if fields[0] == "nameserver" && len(fields) > 1 {
			addr, err := netip.ParseAddr(fields[1])
			if err != nil || !reachable(addr) {
				continue
			}
			any = true
		}
		kept.WriteString(strings.Join(fields, " ") + "\n")
	}
	return kept.String(), any
}
