package sock

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// program serves one answer a connection, and says who and where it is.
const program = `#!/usr/bin/python3 -I
import json, os, socket, sys
sock = socket.socket(socket.AF_UNIX)
sock.bind(os.environ["OL_SOCKET"])
sock.listen()
print("it listens", flush=True)
while True:
    conn, _ = sock.accept()
    if not conn.recv(65536):
        continue
    status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    text = json.dumps([os.getpid(), dict(os.environ), int(status["CapEff"], 16), int(status["Seccomp"]),
        sorted(os.listdir("/proc/self/fd"))[:-1], os.getcwd(), os.getuid() > 999]).encode()
    conn.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
    conn.close()
`

// programSpec is a lambda that is the given program.
func programSpec(t *testing.T, id, text string, mode os.FileMode) Spec {
	t.Helper()
	spec := code(t, id, "")
	spec.Entry = "bootstrap"
	path := filepath.Join(spec.Dir, spec.Entry)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestProgram(t *testing.T) {
	for _, zygote := range []bool{true, false} {
		cfg := settings(t)
		cfg.Zygote = zygote
		if !zygote {
			cfg.Pool = 0
		}
		p := newProvider(t, cfg)
		warm(t, p)
		s := create(t, p, programSpec(t, "program", program, 0o755))
		for range 2 {
			_, answer := call(t, s, "{}")
			want := `[1,{"COLOUR":"blue","OL_SOCKET":"/host/ol.sock"`
			if got := strings.ReplaceAll(answer, " ", ""); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `},0,2,["0","1","2","3","4"],"/handler",true]`) {
				t.Errorf("from %s: %s", s.Info().Origin, answer)
			}
		}
		destroy(t, s)
	}
}

func TestProgramsThatCannotBeStarted(t *testing.T) {
	p := newProvider(t, settings(t))
	warm(t, p)
	outside := filepath.Join(t.TempDir(), "outside.sock")
	listener, err := net.Listen("unix", outside)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for name, test := range map[string]struct {
		text, reason string
		mode         os.FileMode
	}{
		"not executable": {program, "chmod +x", 0o644},
		"no program":     {"\x7fELF but not really", "no program for this machine", 0o755},
		"no interpreter": {"#!/usr/bin/nothing\n", "link it statically", 0o755},
		"exits":          {"#!/bin/sh\necho going; exit 3\n", "exit code 3", 0o755},
		"never listens":  {"#!/bin/sh\nsleep 1000\n", "does not listen on the unix socket", 0o755},
		"makes a file":   {"#!/bin/sh\n: > $OL_SOCKET; sleep 1000\n", "does not listen on the unix socket", 0o755},
		// It must not make the worker talk to somebody else's socket.
		"makes a link": {"#!/bin/sh\nln -s " + outside + " $OL_SOCKET; sleep 1000\n", "does not listen on the unix socket", 0o755},
	} {
		t.Run(name, func(t *testing.T) {
			spec := programSpec(t, "broken", test.text, test.mode)
			spec.Runtime = 2 * time.Second
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			_, err := p.Create(ctx, spec)
			var failed *StartError
			if !errors.As(err, &failed) || !failed.Lambda || !strings.Contains(failed.Reason, test.reason) {
				t.Errorf("started with %v, want %q", err, test.reason)
			}
		})
	}
}
