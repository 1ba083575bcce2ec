package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/boss/jetstream"
	"github.com/open-lambda/open-lambda/boss/registry"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
)

func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fail(codeFailed, "start boss", err, "")
	}
	return nil
}

// bossServe runs a boss in this process until ctx ends.
func bossServe(ctx context.Context, s streams, dir string, cfg config.Boss, hint string) (err error) {
	if err := makeDir(dir); err != nil {
		return err
	}
	lock, err := lockDir(dir)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		pid, err := lockHolder(dir)
		return bossRuns(dir, pid, err, hint)
	}
	if err != nil {
		return fail(codeFailed, "start boss", err, "")
	}
	defer lock.Close()
	token, err := readToken(cfg.TokenFile)
	if err != nil {
		return err
	}
	l, err := bossListen(&cfg, token, hint)
	if err != nil {
		return err
	}
	// Whoever looks for this boss reads its port there.
	if err := cfg.Save(filepath.Join(dir, overridesFile)); err != nil {
		return errors.Join(err, l.Close())
	}
	return runBoss(ctx, s, dir, cfg, token, l)
}

func runBoss(ctx context.Context, s streams, dir string, cfg config.Boss, token string, l net.Listener) (err error) {
	logger := slog.New(slog.NewTextHandler(s.err, nil))
	store, err := openStore(dir, cfg, token, logger)
	if err != nil {
		return errors.Join(fail(codeFailed, "start boss", err, ""), l.Close())
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	uploads := filepath.Join(dir, "uploads")
	if err := errors.Join(os.RemoveAll(uploads), os.MkdirAll(uploads, 0o700)); err != nil {
		return errors.Join(fail(codeFailed, "start boss", err, ""), l.Close())
	}
	r, err := registry.New(registry.Config{Meta: store, Code: store.Code(), Scratch: uploads, Limits: archive.DefaultLimits(), Logger: logger})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	bc := boss.Config{
		Listener: l, Registry: r, Placer: cfg.Placer, Seed: uint64(os.Getpid()), Token: token, Logger: logger,
		Timeout: time.Duration(cfg.TimeoutSec) * time.Second, MaxBody: int64(cfg.MaxBodyMB) << 20,
		Drain: time.Duration(cfg.DrainSec) * time.Second,
		Async: asyncConfig(store, cfg.Async),
	}
	if cfg.Platform == "local" {
		p := newLocalPlatform(s, dir, cfg, logger)
		defer func() { err = errors.Join(err, p.close()) }()
		bc.Scaler = p
	}
	b, err := boss.New(bc)
	if err != nil {
		return errors.Join(fail(codeUsage, "start boss", err, ""), l.Close())
	}
	check := func(context.Context) error {
		if !b.Ready() {
			return errors.New("the boss is shutting down")
		}
		return nil
	}
	return notified(ctx, logger, check, b.Run)
}

// openStore opens what keeps the boss' lambdas.
func openStore(dir string, cfg config.Boss, token string, logger *slog.Logger) (*jetstream.Store, error) {
	var peers []string
	for p := range strings.SplitSeq(cfg.Store.Peers, ",") {
		if p = strings.TrimSpace(p); p != "" {
			peers = append(peers, p)
		}
	}
	return jetstream.Open(jetstream.Config{
		URL: cfg.Store.URL, Token: token, Dir: filepath.Join(dir, "store"), Name: cfg.Store.Name,
		Listen: cfg.Store.Listen, Peers: peers, Sync: cfg.Store.Sync,
	}, logger)
}

func readToken(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fail(codeUsage, "read token", err, "make one: head -c 32 /dev/urandom | base64 > "+file)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < 8 {
		return "", fail(codeUsage, "read token", fmt.Errorf("%s holds fewer than 8 characters", file), "make one: head -c 32 /dev/urandom | base64 > "+file)
	}
	return token, nil
}

// bossListen takes the port, and refuses to be open to other machines without
// protection. The port that the kernel chose is put into cfg.
func bossListen(cfg *config.Boss, token, hint string) (net.Listener, error) {
	if err := requireProtection(cfg, token); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(cfg.BossURL, cfg.BossPort))
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fail(codeFailed, "start boss", fmt.Errorf("port %s is in use", cfg.BossPort), "choose another: ol boss up -o boss_port=5001"+hint)
	}
	if err != nil {
		return nil, fail(codeFailed, "start boss", err, "choose another address: -o boss_url=localhost,boss_port=5001"+hint)
	}
	cfg.BossPort = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	if cfg.TLSCert == "" {
		return l, nil
	}
	t, err := serverTLS(cfg)
	if err != nil {
		return nil, errors.Join(fail(codeUsage, "start boss", err, ""), l.Close())
	}
	return tls.NewListener(l, t), nil
}

func requireProtection(cfg *config.Boss, token string) error {
	if cfg.Insecure || isLoopback(cfg.BossURL) {
		return nil
	}
	var missing []string
	if token == "" {
		missing = append(missing, "a token (token_file)")
	}
	if cfg.TLSCert == "" {
		missing = append(missing, "TLS (tls_cert, tls_key)")
	}
	if len(missing) == 0 {
		return nil
	}
	return fail(codeUsage, "start boss", fmt.Errorf("on %s other machines reach it, and it lacks %s", cfg.BossURL, strings.Join(missing, " and ")),
		"give it what is missing, or say that the network is trusted: -o insecure=true")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

func serverTLS(cfg *config.Boss) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("load certificate: %w", err)
	}
	// Links need HTTP/1.1.
	t := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if cfg.TLSClientCA == "" {
		return t, nil
	}
	t.ClientAuth = tls.RequireAndVerifyClientCert
	t.ClientCAs, err = readCA(cfg.TLSClientCA)
	return t, err
}

func readCA(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read certificates: %s holds none", file)
	}
	return pool, nil
}
