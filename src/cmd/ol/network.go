package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/nat"
	"github.com/open-lambda/open-lambda/src/config"
)

// networkAuto leaves the network to what the machine can.
const networkAuto = "auto"

// settleNetwork decides what "auto" means on this machine, and says why. Any
// other network is what it is.
func settleNetwork(network string) (settled, why string) {
	if network != networkAuto {
		return network, "as configured"
	}
	err := nat.Check()
	if err == nil {
		return sock.NetworkNAT, "this machine can"
	}
	var lack *nat.Lack
	if errors.As(err, &lack) && lack.Mend != "" {
		return sock.NetworkNone, strings.TrimSuffix(lack.What, ".") + "; mend: " + lack.Mend
	}
	return sock.NetworkNone, err.Error()
}

// reach orders networks by how much of the world they show.
func reach(network string) int {
	return slices.Index([]string{sock.NetworkNone, sock.NetworkNAT, sock.NetworkHost}, network)
}

// natConfig is how a worker's sandboxes lead out. Bosses' ports are refused: a
// lambda has no business with them.
func natConfig(ctx context.Context, c config.Config, logger *slog.Logger) sock.NAT {
	var n sock.NAT
	n.Range, _ = c.NAT.ParseRange() // both were validated
	n.Deny, _ = c.NAT.ParseDeny()
	for _, boss := range strings.Split(c.Cluster.Bosses, ",") {
		ports, err := portsOf(ctx, boss)
		if err != nil {
			logger.Warn("cannot keep lambdas from a boss", slog.String("boss", boss), slog.Any("error", err))
		}
		n.DenyPorts = append(n.DenyPorts, ports...)
	}
	return n
}

// portsOf looks up where a URL leads.
func portsOf(ctx context.Context, text string) ([]netip.AddrPort, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme // services have names too
	}
	number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", u.Hostname())
	if err != nil {
		return nil, err
	}
	var all []netip.AddrPort
	for _, a := range addrs {
		all = append(all, netip.AddrPortFrom(a.Unmap(), uint16(number)))
	}
	return all, nil
}

// checkNetwork tells whether lambdas can have a network of their own.
func checkNetwork() check {
	const name = "network"
	if os.Geteuid() != 0 {
		return check{name, checkWarn, "A network of their own for sandboxes was not tried without root.", "sudo ol doctor"}
	}
	err := nat.Check()
	var lack *nat.Lack
	switch {
	case errors.As(err, &lack):
		return check{name, checkWarn, lack.What + " By default lambdas have no network here.", lack.Mend}
	case nat.Resolver() == "":
		return check{
			name, checkWarn, "Sandboxes can have a network of their own (nat), but names cannot be looked up there: every resolver in /etc/resolv.conf is on this machine.",
			"name a resolver elsewhere in /etc/resolv.conf, or in /run/systemd/resolve/resolv.conf",
		}
	}
	return check{name, checkOK, "Sandboxes can have a network of their own (nat), and do by default.", ""}
}
