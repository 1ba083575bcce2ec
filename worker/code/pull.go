package code

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/open-lambda/open-lambda/src/lambda/archive"
	"github.com/open-lambda/open-lambda/src/lambda/unpack"
	"github.com/open-lambda/open-lambda/worker/registry"
)

// pull fetches and extracts the lambda. If its archive is that of old, old is
// returned. The caller owns one reference of a new version.
func (c *Cache) pull(name string, old *Version) (*Version, error) {
	begun := time.Now()
	tmp, digest, err := c.fetch(name)
	if err != nil {
		return nil, err
	}
	defer tmp.Close()
	if old != nil && old.Digest == digest {
		return old, nil
	}
	c.mu.Lock()
	c.seq++
	seq := c.seq
	c.mu.Unlock()
	// The number keeps a version that comes back apart from its predecessor,
	// which may be being removed.
	dir := filepath.Join(c.cfg.Dir, name, fmt.Sprintf("%s-%d", digest[:16], seq))
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("extract lambda %s: %w", name, err)
	}
	conf, warnings, err := unpack.Lambda(tmp, dir, c.cfg.Limits)
	if err != nil {
		var refused *archive.RefusedError
		var content *unpack.ContentError
		if errors.As(err, &refused) || errors.As(err, &content) {
			return nil, &BrokenError{Name: name, Err: err}
		}
		return nil, fmt.Errorf("extract lambda %s: %w", name, err)
	}
	v := &Version{Name: name, Seq: seq, Digest: digest, Dir: dir, Config: conf, Warnings: warnings, log: c.cfg.Logger}
	v.refs.Store(1)
	if c.cfg.Pulled != nil {
		c.cfg.Pulled(time.Since(begun))
	}
	return v, nil
}

// fetch downloads the archive into a file that has no name any more.
func (c *Cache) fetch(name string) (*os.File, string, error) {
	f, err := os.CreateTemp(c.cfg.Dir, ".fetch-*")
	if err != nil {
		return nil, "", fmt.Errorf("fetch lambda %s: %w", name, err)
	}
	h := sha256.New()
	err = errors.Join(os.Remove(f.Name()), c.cfg.Source.Fetch(c.life, name, io.MultiWriter(h, f)))
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		err = errors.Join(err, f.Close())
		if errors.Is(err, registry.ErrNotFound) || errors.Is(err, context.Canceled) {
			return nil, "", err
		}
		return nil, "", fmt.Errorf("fetch lambda %s: %w", name, err)
	}
	return f, hex.EncodeToString(h.Sum(nil)), nil
}
