package main

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/urfave/cli/v2"
)

// caller sends one request to a worker or to a boss, who take the same ones.
// The body is read once, or is a seeker. The caller closes the answer's body.
type caller func(ctx context.Context, method, path string, body io.Reader, header http.Header) (*http.Response, error)

// findRegistry is the worker that -p names, or a boss of the cluster.
func findRegistry(s streams, c *cli.Context, what string, cluster bool) (caller, error) {
	if !cluster {
		n, err := runningNode(c.Context, s, workerDir(s, c), pathHint(c), what)
		return n.call, err
	}
	b, err := findBoss(s, c, defaultBossDir)
	if err != nil {
		return nil, err
	}
	return registryOf(b), nil
}

// registryOf is a boss as a caller.
func registryOf(b *bossClient) caller {
	return func(ctx context.Context, method, path string, body io.Reader, header http.Header) (*http.Response, error) {
		if strings.HasPrefix(path, "/run/") && header.Get("Authorization") == "" {
			b.token = "" // what is sent there belongs to the lambda
		}
		var again func() io.Reader
		if body != nil {
			again = func() io.Reader { return body }
		}
		return b.call(ctx, method, path, again, header)
	}
}
