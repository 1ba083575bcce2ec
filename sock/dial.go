package sock

import (
	"context"
	"fmt"
	"net"
)

// Dial connects to the runtime inside, which speaks HTTP/1.1. It fails once
// the runtime is gone. The caller closes the connection before Destroy or
// after; the sandbox' end breaks it.
func (s *Sandbox) Dial(ctx context.Context) (net.Conn, error) {
	if err := s.roster.fault(FaultDial); err != nil {
		return nil, fmt.Errorf("connect to sandbox: %w", err)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", procPath(s.guest.place.socket))
	if err != nil {
		return nil, fmt.Errorf("connect to sandbox: %w", err)
	}
	return conn, nil
}
