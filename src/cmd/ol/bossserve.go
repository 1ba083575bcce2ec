package main

import (
	"context"
	"crypto/tls"
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
	"github.com/open-lambda/open-lambda/boss/blobs"
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
	l, err := bossListen(ctx, &cfg, token, hint)
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
	logger := slog.New(slog.NewTextHandler(boundOutput(s.err, filepath.Join(dir, bossOutputFile), outputMost), nil))
	outward, err := clientTLS(cfg.CAFile, cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	store, err := openStore(dir, cfg, token, outward, logger)
	if err != nil {
		return errors.Join(fail(codeFailed, "start boss", err, ""), l.Close())
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	code, closeCode, err := openCode(ctx, cfg, store)
	if err != nil {
		return errors.Join(fail(codeUsage, "start boss", err, ""), l.Close())
	}
	defer func() { err = errors.Join(err, closeCode()) }()
	uploads := filepath.Join(dir, "uploads")
	if err := errors.Join(os.RemoveAll(uploads), os.MkdirAll(uploads, 0o700)); err != nil {
		return errors.Join(fail(codeFailed, "start boss", err, ""), l.Close())
	}
	r, err := registry.New(registry.Config{Meta: store, Code: code, Scratch: uploads, Limits: archive.DefaultLimits(), Logger: logger})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	bc := boss.Config{
		Listener: l, Registry: r, Placer: cfg.Placer, Seed: uint64(os.Getpid()), Token: token, TLS: outward, TLSOnly: !cfg.Insecure, Logger: logger,
		Timeout: time.Duration(cfg.TimeoutSec) * time.Second, MaxBody: int64(cfg.MaxBodyMB) << 20,
		Drain: time.Duration(cfg.DrainSec) * time.Second,
		Async: asyncConfig(store, cfg.Async), KafkaWorkers: cfg.KafkaWorkers,
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
func openStore(dir string, cfg config.Boss, token string, t *tls.Config, logger *slog.Logger) (*jetstream.Store, error) {
	return jetstream.Open(jetstream.Config{
		URL: cfg.Store.URL, Replicas: cfg.Store.Replicas, Token: token, TLS: t, Dir: filepath.Join(dir, "store"), Name: cfg.Store.Name,
		Listen: cfg.Store.Listen, Peers: cfg.Store.PeerList(), Sync: cfg.Store.Sync,
	}, logger)
}

// openCode opens what keeps the archives of lambdas, and returns how it is
// closed.
func openCode(ctx context.Context, cfg config.Boss, store *jetstream.Store) (registry.Code, func() error, error) {
	if cfg.Store.Code == "" {
		return store.Code(), func() error { return nil }, nil
	}
	b, err := blobs.Open(ctx, cfg.Store.Code)
	if err != nil {
		return nil, nil, err
	}
	return b, b.Close, nil
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
func bossListen(ctx context.Context, cfg *config.Boss, token, hint string) (net.Listener, error) {
	err := requireProtection("start boss", cfg.BossURL, token, "token_file", cfg.TLSCert, "tls_cert, tls_key", cfg.Insecure)
	if err == nil && cfg.Store.Listen != "" {
		host, _, _ := net.SplitHostPort(cfg.Store.Listen) // the store says what is wrong with it
		err = requireProtection("start boss", host, token, "token_file", cfg.TLSCert, "tls_cert, tls_key", cfg.Insecure)
	}
	if err != nil {
		return nil, err
	}
	l, err := boss.Listen(ctx, net.JoinHostPort(cfg.BossURL, cfg.BossPort))
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fail(codeFailed, "start boss", fmt.Errorf("port %s is in use", cfg.BossPort), "choose another: ol boss up -o boss_port=5001"+hint)
	}
	if err != nil {
		return nil, fail(codeFailed, "start boss", err, "choose another address: -o boss_url=localhost,boss_port=5001"+hint)
	}
	cfg.BossPort = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	return secured(l, "start boss", cfg.TLSCert, cfg.TLSKey, cfg.TLSClientCA)
}
