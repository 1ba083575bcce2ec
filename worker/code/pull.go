package code

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
	"github.com/open-lambda/open-lambda/src/lambda/unpack"
	"github.com/open-lambda/open-lambda/worker/fault"
	"github.com/open-lambda/open-lambda/worker/registry"
)

// pull fetches and extracts the lambda. If its archive is that of old, old is
// returned. The caller owns one reference of a new version.
func (c *Cache) pull(name string, old *Version) (*Version, error) {
	begun := time.Now()
	tmp, digest, err := c.fetchWhole(name)
	if err != nil {
		return nil, err
	}
	defer tmp.close()
	if old != nil && old.Digest == digest {
		return old, nil
	}
	c.mu.Lock()
	c.seq++
	seq := c.seq
	c.mu.Unlock()
	// The number keeps a version that comes back apart from its predecessor,
	// which may be being removed.
	dir := filepath.Join(c.cfg.Dir, fmt.Sprintf("%s-%s-%d", name, digest[:16], seq))
	conf, warnings, err := c.extract(tmp, dir)
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

func (c *Cache) extract(from *spool, dir string) (lambda.Config, []string, error) {
	if err := c.cfg.Fault.At(fault.Extract); err != nil {
		return lambda.Config{}, nil, err
	}
	return unpack.Lambda(from.reader(), dir, c.cfg.Limits)
}

// A lambda that is being written is fetched again after a moment, a few times.
const (
	fetchTries = 5
	fetchPause = 20 * time.Millisecond
)

// fetchWhole fetches the archive once nobody writes to it.
func (c *Cache) fetchWhole(name string) (*spool, string, error) {
	for try := 1; ; try++ {
		tmp, digest, err := c.fetch(name)
		if try == fetchTries || !errors.Is(err, registry.ErrChanged) {
			return tmp, digest, err
		}
		select {
		case <-time.After(fetchPause):
		case <-c.life.Done():
			return nil, "", context.Cause(c.life)
		}
	}
}

// fetch downloads the archive. The caller closes it.
func (c *Cache) fetch(name string) (*spool, string, error) {
	s := &spool{dir: c.cfg.Dir}
	h := sha256.New()
	err := c.cfg.Source.Fetch(c.life, name, io.MultiWriter(h, s))
	if err == nil {
		err = s.rewind()
	}
	if err != nil {
		s.close()
		if errors.Is(err, registry.ErrNotFound) || errors.Is(err, context.Canceled) {
			return nil, "", err
		}
		return nil, "", fmt.Errorf("fetch lambda %s: %w", name, err)
	}
	return s, hex.EncodeToString(h.Sum(nil)), nil
}
