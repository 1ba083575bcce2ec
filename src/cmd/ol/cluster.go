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
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/worker"
	"github.com/open-lambda/open-lambda/worker/link"
)

// withCluster adds to the options of -o what --boss and its companions say.
func withCluster(s streams, c *cli.Context) string {
	parts := []string{}
	if o := c.String("options"); o != "" {
		parts = append(parts, o)
	}
	if list := c.String("boss"); list != "" {
		parts = append(parts, fmt.Sprintf("cluster.bosses=%q", list))
	}
	if c.Bool("insecure") {
		parts = append(parts, "cluster.insecure=true")
	}
	for flag, key := range map[string]string{"token-file": "token_file", "ca-file": "ca_file", "cert-file": "cert_file", "key-file": "key_file"} {
		if file := c.String(flag); file != "" {
			parts = append(parts, fmt.Sprintf("cluster.%s=%q", key, s.abs(file)))
		}
	}
	return strings.Join(parts, ",")
}

// membership is what a worker needs for its cluster; nil if it joins none.
type membership struct {
	bosses   []string
	name     string
	url      string
	token    string
	tls      *tls.Config
	setup    *api.Setup
	registry *link.Registry
}

// joinCluster reads a worker's membership from its configuration.
func joinCluster(n node, l net.Listener) (*membership, error) {
	cl := n.config.Cluster
	if cl.Bosses == "" {
		return nil, nil
	}
	m := &membership{name: cl.Name, url: cl.Advertise}
	for b := range strings.SplitSeq(cl.Bosses, ",") {
		m.bosses = append(m.bosses, strings.TrimSpace(b))
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := m.nameAndURL(n, port); err != nil {
		return nil, err
	}
	var err error
	if m.setup, err = setupOf(n.config); err != nil {
		return nil, err
	}
	if m.token, err = readToken(cl.TokenFile); err != nil {
		return nil, err
	}
	if err := requireProtection("join cluster", n.config.WorkerURL, m.token, "cluster.token_file", cl.TLSCert, "cluster.tls_cert, cluster.tls_key", cl.Insecure); err != nil {
		return nil, err
	}
	cert, key := cl.CertFile, cl.KeyFile
	if cert == "" {
		cert, key = cl.TLSCert, cl.TLSKey
	}
	if m.tls, err = clientTLS(cl.CAFile, cert, key); err != nil {
		return nil, err
	}
	m.registry, err = link.NewRegistry(m.bosses, m.token, filepath.Join(n.config.WorkerDir, "cluster-code"), m.tls)
	return m, err
}

func (m *membership) nameAndURL(n node, port int) error {
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	if m.name == "" {
		m.name = fmt.Sprintf("%s:%d", host, port)
	}
	if m.url != "" {
		return nil
	}
	at := n.config.WorkerURL
	if ip := net.ParseIP(at); at == "" || (ip != nil && ip.IsUnspecified()) {
		at = host // of all addresses, the one that the machine's name stands for
	}
	m.url = n.scheme() + "://" + net.JoinHostPort(at, strconv.Itoa(port))
	return nil
}

// runMember runs a worker, and its links to bosses as long as it runs.
func runMember(ctx context.Context, w *worker.Worker, m *membership, logger *slog.Logger) error {
	if m == nil {
		return w.Run(ctx)
	}
	k, err := link.New(link.Config{
		Bosses: m.bosses, Name: m.name, URL: m.url, Version: version().Version, Token: m.token, TLS: m.tls, Setup: m.setup, Node: w, Logger: logger,
	})
	if err != nil {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		return errors.Join(fail(codeUsage, "join cluster", err, ""), w.Run(ended))
	}
	// The links outlive the worker's drain: bosses see that it drains.
	linked, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { k.Run(linked) })
	err = w.Run(ctx)
	cancel()
	wg.Wait()
	return err
}
