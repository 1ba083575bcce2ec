package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/open-lambda/open-lambda/boss/registry"
	"github.com/open-lambda/open-lambda/src/lambda/bucket"
)

// Code is a registry.Code over a bucket.
type Code struct{ bucket *blob.Bucket }

// Open opens the bucket at a URL, as bucket.Open does. Close releases it.
func Open(ctx context.Context, where string) (*Code, error) {
	b, err := bucket.Open(ctx, where)
	if err != nil {
		return nil, fmt.Errorf("open bucket for code %s: %w", where, err)
	}
	return &Code{b}, nil
}

// Close releases the bucket.
func (c *Code) Close() error { return c.bucket.Close() }

const (
	prefix = "code/"
	suffix = ".tar.gz"
)

func key(digest string) string { return prefix + digest + suffix }

// Put is part of registry.Code.
func (c *Code) Put(ctx context.Context, digest string, archive io.Reader) error {
	if a, err := c.bucket.Attributes(ctx, key(digest)); err == nil && time.Since(a.ModTime) < registry.FreshEnough {
		return nil
	}
	return c.bucket.Upload(ctx, key(digest), archive, &blob.WriterOptions{ContentType: "application/gzip"})
}

// Get is part of registry.Code.
func (c *Code) Get(ctx context.Context, digest string) (io.ReadCloser, error) {
	r, err := c.bucket.NewReader(ctx, key(digest), nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, registry.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("fetch code: %w", err)
	}
	return r, nil
}

// Delete is part of registry.Code.
func (c *Code) Delete(ctx context.Context, digest string) error {
	if err := c.bucket.Delete(ctx, key(digest)); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("remove code: %w", err)
	}
	return nil
}

// List is part of registry.Code.
func (c *Code) List(ctx context.Context) ([]registry.Stored, error) {
	var all []registry.Stored
	objects := c.bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		o, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list code: %w", err)
		}
		if digest, ok := digestOf(o.Key); ok {
			all = append(all, registry.Stored{Digest: digest, AgeSeconds: time.Since(o.ModTime).Seconds()})
		}
	}
}

func digestOf(key string) (string, bool) {
	name, ok := strings.CutSuffix(strings.TrimPrefix(key, prefix), suffix)
	sum, err := hex.DecodeString(name)
	return name, ok && err == nil && len(sum) == sha256.Size
}
