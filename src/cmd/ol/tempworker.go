package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
)

// tempWorker is a worker in a process and a directory of its own, for a demo or
// a measurement.
type tempWorker struct {
	node node
	pid  int
}

// startTempWorker makes a worker in dir, with options as for -o, and waits until
// it serves. The kernel ends it with the thread that called. With an error it
// returns a worker only if that could not be removed again.
func startTempWorker(ctx context.Context, s streams, dir string, options string) (*tempWorker, error) {
	quiet := s
	quiet.err = io.Discard
	if _, err := initialise(ctx, quiet, dir, ""); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	log := filepath.Join(dir, outputFile)
	// Its lambdas stand for those of traces, and ask for what those had.
	all := "worker_port=" + port + ",limits_max.mem_mb=0,limits_max.runtime_sec=0," + options
	pid, err := spawn(s, dir, strings.TrimSuffix(all, ","), log, untilParentEnds)
	if err != nil {
		return nil, err
	}
	n, err := openNode(s, dir)
	d := &tempWorker{n, pid}
	if err == nil {
		d.node, err = awaitReady(ctx, s, dir, pid)
	}
	if err != nil {
		d.node = n
		s.say("%s", tailOf(log, lastLines))
		failed := fail(codeFailed, "start worker", err, "see what this machine lacks: ol doctor")
		if err := d.stop(); err != nil {
			return d, errors.Join(failed, err)
		}
		return nil, failed
	}
	return d, nil
}

// stop ends the worker and whatever it left. It works without a live context,
// because whoever is interrupted cleans up too.
func (d *tempWorker) stop() error {
	endChild(d.pid)
	return cleanNode(context.Background(), d.node)
}

// freePort asks the kernel for a port that nobody listens on.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return "", fmt.Errorf("find free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return "", fmt.Errorf("find free port: %w", err)
	}
	return strconv.Itoa(port), nil
}

// install uploads a packed lambda.
func (d *tempWorker) install(ctx context.Context, name string, packed []byte) error {
	if err := d.node.upload(ctx, name, packed); err != nil {
		return fmt.Errorf("install %s: %w", name, err)
	}
	return nil
}
