package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/worker"
)

// gcPercent is by how much a worker's heap grows between collections, unless
// GOGC says otherwise. What lives is a few MB, so with Go's 100 it collects every
// few dozen cold starts, for a tenth of its processor time; this takes some 10 MB.
const gcPercent = 300

// serve runs a worker in this process until ctx ends.
func serve(ctx context.Context, s streams, n node, hint string) (err error) {
	lock, err := lockDir(n.dir)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		pid, err := lockHolder(n.dir)
		return alreadyRuns("start worker", n.dir, pid, err, hint)
	}
	if err != nil {
		return fail(codeFailed, "start worker", err, "")
	}
	defer lock.Close()
	if !slices.ContainsFunc(s.env, func(e string) bool { return strings.HasPrefix(e, "GOGC=") }) {
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	}
	listener, err := listen(n, hint)
	if err != nil {
		return err
	}
	// Whoever looks for this worker reads its port there.
	n.config.WorkerPort = strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	if err := n.config.Save(filepath.Join(n.dir, overridesFile)); err != nil {
		return errors.Join(err, listener.Close())
	}
	m, err := joinCluster(n, listener)
	if err != nil {
		_ = listener.Close() // the worker may have closed it already
		return err
	}
	logger := slog.New(slog.NewTextHandler(s.err, nil))
	w, err := newWorker(ctx, s, n, listener, m, logger)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	check := func(ctx context.Context) error {
		_, err := n.get(ctx, api.PathStatus, nil)
		return err
	}
	return notified(ctx, logger, check, func(ctx context.Context) error { return runMember(ctx, w, m, logger) })
}

// listen takes the worker's port before anything else is made.
func listen(n node, hint string) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(n.config.WorkerURL, n.config.WorkerPort))
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fail(codeFailed, "start worker", fmt.Errorf("port %s is in use", n.config.WorkerPort), "choose another: ol worker up -o worker_port=5001"+hint)
	}
	if err != nil {
		return nil, fail(codeFailed, "start worker", err, "choose another address: -o worker_url=localhost,worker_port=5001"+hint)
	}
	cl := n.config.Cluster
	return secured(l, "start worker", cl.TLSCert, cl.TLSKey, cl.TLSClientCA)
}

// newWorker joins a worker with its sandboxes, its policy, and what it needs as
// a member of a cluster unless that is nil.
func newWorker(ctx context.Context, s streams, n node, listener net.Listener, m *membership, logger *slog.Logger) (*worker.Worker, error) {
	policy, err := makePolicy(n.config.Policy)
	if err != nil {
		return nil, err
	}
	provider, err := newProvider(ctx, n, logger)
	if err != nil {
		return nil, err
	}
	wc := worker.Config{
		Settings: n.config, Provider: provider, Runner: provider, Index: pipIndex(s.env), Policy: policy, Logger: logger, Listener: listener,
		Fault: workerFaults(n.config.Features.FaultPercent),
	}
	if percent := n.config.Features.FaultPercent; percent > 0 {
		logger.Warn("the host is made to fail on purpose: this is no worker to rely on", slog.Int("features.fault_percent", percent))
	}
	if m != nil {
		wc.Name, wc.Token, wc.Registry = m.name, m.token, m.registry
	}
	w, err := worker.New(wc)
	if err != nil {
		return nil, errors.Join(fail(codeFailed, "start worker", err, ""), provider.Close(context.WithoutCancel(ctx)))
	}
	logger.Info("worker serves", slog.String("url", n.url("")), slog.String("policy", policy.Name), slog.Int("pool_mb", n.config.MemPoolMB))
	return w, nil
}
