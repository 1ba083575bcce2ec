package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/api"
)

// call sends one request to the worker and returns its answer, whatever the
// status. The caller closes the body.
func (n node) call(ctx context.Context, method, path string, body io.Reader, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, n.url(path), body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	// A worker of a cluster wants its token from those who call from elsewhere,
	// and so from us if its address is not loopback.
	if token, err := readToken(n.config.Cluster.TokenFile); err == nil && token != "" {
		req.Header.Set(api.HeaderToken, token)
	}
	t, err := ownTLS(n.config.Cluster.TLSCert, n.config.Cluster.TLSKey)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true, TLSClientConfig: t},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if errors.Is(err, unix.ECONNREFUSED) {
		return nil, fail(codeNotRunning, "reach the worker at "+n.url("/"), errors.New("connection refused"), "see whether it runs: ol worker status")
	}
	return resp, err
}

// get reads a whole answer of the worker, which has to be a good one.
func (n node) get(ctx context.Context, path string, header http.Header) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	resp, err := n.call(ctx, http.MethodGet, path, nil, header)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, answerError(resp, text)
	}
	return text, nil
}

// getJSON reads an answer of the worker into v.
func (n node) getJSON(ctx context.Context, path string, v any) error {
	text, err := n.get(ctx, path, http.Header{"Accept": {"application/json"}})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("understand answer to %s: %w", path, err)
	}
	return nil
}

// upload stores a packed lambda in the worker's registry.
func (n node) upload(ctx context.Context, name string, packed []byte) error {
	_, err := upload(ctx, n.call, name, packed)
	return err
}

// answerError is the error that a bad answer stands for: the platform's
// problem if it is one, else the text.
func answerError(resp *http.Response, text []byte) error {
	var p api.Problem
	isProblem := strings.HasPrefix(resp.Header.Get("Content-Type"), "application/problem+json")
	if isProblem && json.Unmarshal(text, &p) == nil && p.Detail != "" {
		why := p.Detail
		if p.Output != "" {
			why += "\n" + strings.TrimRight(p.Output, "\n")
		}
		return &statusError{resp.StatusCode, why}
	}
	return &statusError{resp.StatusCode, strings.TrimSpace(string(text))}
}

// statusError is an answer with a bad status.
type statusError struct {
	status int
	text   string
}

// Error returns the status and what the worker said.
func (e *statusError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.status, http.StatusText(e.status), e.text)
}

// codeOfStatus chooses the exit code for an HTTP status.
func codeOfStatus(status int) int {
	switch {
	case status < 400:
		return 0
	case status == http.StatusNotFound:
		return codeNotFound
	case status == http.StatusGatewayTimeout:
		return codeTimeout
	}
	return codeFailed
}
