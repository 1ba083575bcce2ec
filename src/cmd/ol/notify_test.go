package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// A service says that it is ready once it is, then that it lives, and that it
// stops.
func TestNotifySystemd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "300000")
	t.Setenv("WATCHDOG_PID", "")
	looks := 0
	check := func(context.Context) error {
		if looks++; looks < 3 {
			return errors.New("not ready")
		}
		return nil
	}
	heard := func() string {
		t.Helper()
		buf := make([]byte, 64)
		if err := l.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		for {
			n, err := l.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			if n > 0 {
				return string(buf[:n])
			}
		}
	}
	err = notified(t.Context(), slog.New(slog.DiscardHandler), check, func(context.Context) error {
		for _, want := range []string{"READY=1", "WATCHDOG=1"} {
			if got := heard(); got != want {
				t.Errorf("heard %q, want %q", got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for got := heard(); got != "STOPPING=1"; got = heard() {
		if got != "WATCHDOG=1" {
			t.Errorf("heard %q", got)
		}
	}
}
