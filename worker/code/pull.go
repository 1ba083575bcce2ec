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

	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
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
	conf, warnings, err := Unpack(tmp.reader(), dir, c.cfg.Limits)
	if err != nil {
		var refused *archive.RefusedError
		var content *ContentError
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

// ContentError is an archive that unpacks but is no lambda.
type ContentError struct{ Reason string }

// Error says what is missing or wrong.
func (e *ContentError) Error() string { return e.Reason }

// Unpack extracts an archive into dir, which must not exist, and checks that
// it is a lambda. A fault of the archive is an *archive.RefusedError or a
// *ContentError; after any error dir does not exist.
func Unpack(r io.Reader, dir string, lim archive.Limits) (lambda.Config, []string, error) {
	if err := archive.Extract(r, dir, lim); err != nil {
		return lambda.Config{}, nil, err
	}
	c, warnings, err := lambda.ReadDir(dir)
	if format := (*lambda.FormatError)(nil); errors.As(err, &format) {
		err = &ContentError{Reason: err.Error()}
	}
	if err == nil {
		err = checkEntry(dir, &c)
	}
	if err != nil {
		return lambda.Config{}, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, warnings, nil
}

// checkEntry finds something to run: the entry file, a native program, or
// what OL_WSGI_ENTRY or OL_ASGI_ENTRY name.
func checkEntry(dir string, c *lambda.Config) error {
	if c.Environment["OL_WSGI_ENTRY"] != "" || c.Environment["OL_ASGI_ENTRY"] != "" {
		return nil
	}
	for _, name := range []string{c.Entry(), "f.bin", "bootstrap"} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err == nil && fi.Mode().IsRegular() {
			return nil
		}
	}
	return &ContentError{Reason: fmt.Sprintf(
		"there is no entry file %s at the top of the archive: add it, or name another by OL_ENTRY_FILE in the environment of %s",
		c.Entry(), lambda.ConfigFile)}
}
