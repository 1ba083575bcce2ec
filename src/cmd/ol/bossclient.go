package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/config"
)

func bossFlag() cli.Flag {
	return &cli.StringFlag{Name: "boss", Usage: "`URL` of a boss, or several separated by commas, of which the first that answers is asked"}
}

func tokenFlag() cli.Flag {
	return &cli.StringFlag{Name: "token-file", Usage: "`FILE` with the cluster's token", EnvVars: []string{"OL_TOKEN_FILE"}}
}

func caFlag() cli.Flag {
	return &cli.StringFlag{Name: "ca-file", Usage: "`FILE` with the certificates that the boss' must be signed by"}
}

func certFlag() cli.Flag {
	return &cli.StringFlag{Name: "cert-file", Usage: "`FILE` with the certificate to show to bosses that ask for one"}
}

func keyFlag() cli.Flag {
	return &cli.StringFlag{Name: "key-file", Usage: "`FILE` with the key of --cert-file"}
}

// bossFlags say which boss, and how it and we prove who we are.
func bossFlags() []cli.Flag {
	return []cli.Flag{bossFlag(), tokenFlag(), caFlag(), certFlag(), keyFlag()}
}

// bossClient speaks to whichever of some bosses answers.
type bossClient struct {
	urls   []string
	token  string
	client *http.Client
}

// newBossClient checks the URLs.
func newBossClient(list, token string, t *tls.Config) (*bossClient, error) {
	b := &bossClient{token: token}
	for u := range strings.SplitSeq(list, ",") {
		u = strings.TrimRight(strings.TrimSpace(u), "/")
		parsed, err := url.Parse(u)
		if err != nil || parsed.Host == "" {
			return nil, usage("write it so: --boss http://host:5000", "%q is no address of a boss", u)
		}
		b.urls = append(b.urls, u)
	}
	transport := &http.Transport{
		DisableCompression: true, DisableKeepAlives: true, TLSClientConfig: t,
		DialContext: (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
	}
	b.client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return b, nil
}

// bossAt is the client of the boss that has a configuration.
func bossAt(cfg config.Boss, token string) (*bossClient, error) {
	scheme := "http"
	if cfg.TLSCert != "" {
		scheme = "https"
	}
	t, err := ownTLS(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		return nil, err
	}
	return newBossClient(scheme+"://"+net.JoinHostPort(reachable(cfg.BossURL), cfg.BossPort), token, t)
}

// findBoss is the client of the boss that --boss names, or of the one that runs
// in dir.
func findBoss(s streams, c *cli.Context, dir string) (*bossClient, error) {
	file := c.String("token-file")
	if list := c.String("boss"); list != "" {
		token, err := readToken(file)
		if err != nil {
			return nil, err
		}
		t, err := clientTLS(c.String("ca-file"), c.String("cert-file"), c.String("key-file"))
		if err != nil {
			return nil, err
		}
		return newBossClient(list, token, t)
	}
	dir = s.abs(dir)
	cfg, err := bossConfig(s, dir, "", true)
	if err != nil {
		return nil, fail(codeUsage, "read configuration", err, "")
	}
	if pid, err := lockHolder(dir); err != nil || pid == 0 {
		return nil, fail(codeNotRunning, "reach boss", errors.Join(fmt.Errorf("no boss runs in %s", dir), err), "start it: ol boss up -d; or name another: --boss http://host:5000")
	}
	if file == "" {
		file = cfg.TokenFile
	}
	token, err := readToken(file)
	if err != nil {
		return nil, err
	}
	return bossAt(cfg, token)
}

// call sends a request to the first boss that takes the connection. The caller
// closes the body.
func (b *bossClient) call(ctx context.Context, method, path string, body func() io.Reader, header http.Header) (*http.Response, error) {
	var errs []error
	for _, base := range b.urls {
		var r io.Reader
		if body != nil {
			r = body()
		}
		req, err := http.NewRequestWithContext(ctx, method, base+path, r)
		if err != nil {
			return nil, fmt.Errorf("make request: %w", err)
		}
		for name, values := range header {
			req.Header[name] = values
		}
		if b.token != "" && req.Header.Get("Authorization") == "" {
			req.Header.Set("Authorization", "Bearer "+b.token)
		}
		resp, err := b.client.Do(req)
		if err == nil {
			return resp, nil
		}
		errs = append(errs, err)
		var dial *net.OpError
		if !errors.As(err, &dial) || dial.Op != "dial" {
			return nil, err // it may have begun
		}
	}
	return nil, fail(codeNotRunning, "reach boss", errors.Join(errs...), "see whether it runs: ol boss status --boss "+strings.Join(b.urls, ","))
}

// do sends a request and reads the whole answer, which has to be a good one.
func (b *bossClient) do(ctx context.Context, method, path string, body func() io.Reader) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	resp, err := b.call(ctx, method, path, body, http.Header{"Accept": {"application/json"}})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if resp.StatusCode >= 300 {
		return nil, answerError(resp, text)
	}
	return text, nil
}

func (b *bossClient) getJSON(ctx context.Context, path string, v any) error {
	text, err := b.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("understand answer to %s: %w", path, err)
	}
	return nil
}
