package link

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/worker/registry"
)

// Registry is the cluster's lambdas, fetched from whichever boss answers. Code
// that was fetched once is kept on disk, so that a worker serves on, and even
// starts again, while no boss is there.
type Registry struct {
	bosses []string
	token  string
	kept   *shelf
	client *http.Client
	good   atomic.Int32 // the boss that answered last

	mu   sync.Mutex
	told map[string]word // by lambda
}

// NewRegistry makes one that keeps code in dir.
func NewRegistry(bosses []string, token, dir string, t *tls.Config) (*Registry, error) {
	if len(bosses) == 0 {
		return nil, errors.New("make registry: at least one boss is required")
	}
	kept, err := openShelf(dir)
	if err != nil {
		return nil, err
	}
	return &Registry{
		bosses: slices.Clone(bosses), token: token, kept: kept, told: map[string]word{},
		client: &http.Client{Transport: &http.Transport{
			TLSClientConfig: t, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: 10 * time.Second,
		}, CheckRedirect: noRedirect},
	}, nil
}

// Close ends idle connections.
func (r *Registry) Close() error {
	r.client.CloseIdleConnections()
	return nil
}

// word is what bosses have said a lambda's code is.
type word struct{ digest, stamp string }

// refusedError is an answer of a boss that is no success.
type refusedError struct {
	status int
	text   string
	stamp  string // how new its news are; see api.HeaderStamp
}

// Error is what the boss said.
func (e *refusedError) Error() string { return fmt.Sprintf("boss says %d: %s", e.status, e.text) }

// request is what bosses are asked.
type request struct {
	method, path string
	least        string           // stamp; "": whatever the boss has
	body         func() io.Reader // nil: none
}

// askLimit is how long one boss may take before the next is asked.
const askLimit = 10 * time.Second

// ask sends a request to the boss that answered last, and to the others if it
// does not answer. The caller closes the body.
func (r *Registry) ask(ctx context.Context, q request) (*http.Response, error) {
	first := int(r.good.Load())
	var errs []error
	for i := range r.bosses {
		at := (first + i) % len(r.bosses)
		resp, err := r.one(ctx, strings.TrimRight(r.bosses[at], "/"), q)
		if err == nil {
			r.good.Store(int32(at))
			return resp, nil
		}
		var refused *refusedError
		if errors.As(err, &refused) && refused.status < 500 {
			return nil, err
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (r *Registry) one(ctx context.Context, boss string, q request) (*http.Response, error) {
	var b io.Reader
	if q.body != nil {
		b = q.body()
	}
	req, err := http.NewRequestWithContext(ctx, q.method, boss+q.path, b)
	if err != nil {
		return nil, err
	}
	if q.least != "" {
		req.Header.Set(api.HeaderStamp, q.least)
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	stamp := resp.Header.Get(api.HeaderStamp)
	if resp.StatusCode == http.StatusNotFound {
		return nil, errors.Join(registry.ErrNotFound, &refusedError{resp.StatusCode, "not found", stamp})
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	return nil, errors.Join(&refusedError{resp.StatusCode, strings.TrimSpace(string(text)), stamp}, err)
}

// Version is the digest of a lambda's code, and how new that is: the bosses'
// word, or if none can be reached and any will do the digest that is kept.
func (r *Registry) Version(ctx context.Context, name, least string) (digest, stamp string, err error) {
	if err := lambda.CheckName(name); err != nil {
		return "", "", err
	}
	limit, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	resp, err := r.ask(limit, request{method: http.MethodHead, path: api.PathRegistry + name, least: least})
	if err == nil {
		defer resp.Body.Close()
		stamp = resp.Header.Get(api.HeaderStamp)
		digest, err = digestOf(resp)
		r.note(name, word{digest, stamp})
		return digest, stamp, err
	}
	if !errors.Is(err, registry.ErrNotFound) {
		if w, ok := r.keeps(name); ok && w.stamp >= least {
			return w.digest, w.stamp, nil
		}
		return "", "", fmt.Errorf("look up lambda %s: %w", name, err)
	}
	r.note(name, word{})
	var refused *refusedError
	if errors.As(err, &refused) {
		stamp = refused.stamp
	}
	return "", stamp, fmt.Errorf("look up lambda %s: %w", name, err)
}

// keeps tells what is kept of a lambda, unless bosses have said that there is
// something else.
func (r *Registry) keeps(name string) (word, bool) {
	digest, ok := r.kept.digest(name)
	w := r.toldOf(name)
	if !ok || w.digest != "" && w.digest != digest {
		return word{}, false
	}
	return word{digest, w.stamp}, true
}

// note remembers what bosses have said.
func (r *Registry) note(name string, w word) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.told, name)
	if w.digest != "" {
		r.told[name] = w
	}
}

func (r *Registry) toldOf(name string) word {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told[name]
}

func digestOf(resp *http.Response) (string, error) {
	digest := strings.Trim(resp.Header.Get("ETag"), `"`)
	if b, err := hex.DecodeString(digest); err != nil || len(b) != sha256.Size {
		return "", fmt.Errorf("the boss' ETag %q is no digest", digest)
	}
	return digest, nil
}

// Fetch writes a lambda's archive, checked against its digest: what Version has
// said last, or something newer. If no boss gives it, it is taken from what is kept.
func (r *Registry) Fetch(ctx context.Context, name string, w io.Writer) error {
	if err := lambda.CheckName(name); err != nil {
		return err
	}
	err := r.fetch(ctx, name)
	if errors.Is(err, registry.ErrNotFound) {
		r.kept.drop(name)
	}
	if err != nil {
		if _, ok := r.keeps(name); !ok {
			return fmt.Errorf("fetch lambda %s: %w", name, err)
		}
	}
	f, err := r.kept.open(name)
	if err != nil {
		return fmt.Errorf("fetch lambda %s: %w", name, err)
	}
	defer f.Close()
	if _, err := io.Copy(w, f); err != nil {
		return fmt.Errorf("fetch lambda %s: %w", name, err)
	}
	return nil
}

// fetch brings what is kept up to date.
func (r *Registry) fetch(ctx context.Context, name string) error {
	resp, err := r.ask(ctx, request{method: http.MethodGet, path: api.PathRegistry + name, least: r.toldOf(name).stamp})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	digest, err := digestOf(resp)
	if err != nil {
		return err
	}
	return r.kept.put(name, digest, resp.Body)
}

// List returns the names of the cluster's lambdas, or of those that are kept.
func (r *Registry) List(ctx context.Context) ([]string, error) {
	limit, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	resp, err := r.ask(limit, request{method: http.MethodGet, path: api.PathRegistry})
	if err != nil {
		return r.kept.names()
	}
	defer resp.Body.Close()
	var names []string
	if err := json.NewDecoder(resp.Body).Decode(&names); err != nil {
		return nil, fmt.Errorf("list registry: %w", err)
	}
	return names, nil
}

// Put stores a lambda in the cluster.
func (r *Registry) Put(ctx context.Context, name string, archive io.Reader) error {
	f, err := os.CreateTemp(r.kept.dir, ".put-*")
	if err != nil {
		return fmt.Errorf("store lambda %s: %w", name, err)
	}
	defer f.Close()
	n, err := io.Copy(f, archive)
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return fmt.Errorf("store lambda %s: %w", name, err)
	}
	// Each boss that is asked gets it from the beginning.
	body := func() io.Reader { return io.NewSectionReader(f, 0, n) }
	resp, err := r.ask(ctx, request{method: http.MethodPost, path: api.PathRegistry + name, body: body})
	if err != nil {
		return fmt.Errorf("store lambda %s: %w", name, err)
	}
	return resp.Body.Close()
}

// Delete removes a lambda from the cluster.
func (r *Registry) Delete(ctx context.Context, name string) error {
	resp, err := r.ask(ctx, request{method: http.MethodDelete, path: api.PathRegistry + name})
	if err != nil {
		return fmt.Errorf("delete lambda %s: %w", name, err)
	}
	return resp.Body.Close()
}
