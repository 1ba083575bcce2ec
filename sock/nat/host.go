package nat

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Lack is what keeps a host from giving sandboxes a network.
type Lack struct {
	What string // one sentence
	Mend string // what to type, "" if nothing helps
}

// Error is the sentence.
func (l *Lack) Error() string { return l.What }

// Check says whether this host can give sandboxes a network of their own; the
// error is a *Lack. It needs root and changes nothing of the host: what it
// tries, it tries in a network namespace of its own.
func Check() error {
	raw, err := os.ReadFile("/proc/sys/net/ipv4/ip_forward")
	if err != nil {
		return &Lack{What: "The kernel does not say whether it forwards packets: " + err.Error() + "."}
	}
	if strings.TrimSpace(string(raw)) != "1" {
		return &Lack{
			What: "This machine does not forward packets, which a network of their own for sandboxes (nat) takes.",
			Mend: "sysctl -w net.ipv4.ip_forward=1",
		}
	}
	if err := try(); err != nil {
		return &Lack{What: "Networks for sandboxes (nat) cannot be made: " + err.Error() + ".", Mend: "load the modules veth, nft_masq, nft_ct and nft_fib_inet"}
	}
	return nil
}

// try makes everything once where nobody sees it.
func try() error {
	host, err := Make(1)
	if err != nil {
		return err
	}
	defer closeAll(host)
	return Inside(host[0], func() error {
		const instance = "check"
		n, err := Open(Config{Instance: instance})
		if err != nil {
			return err
		}
		return errors.Join(n.probe(), n.Close())
	})
}

// probe makes one namespace.
func (n *Network) probe() error {
	l, err := n.Get()
	if err != nil {
		return fmt.Errorf("make one to try: %w", err)
	}
	n.Put(l)
	return nil
}
