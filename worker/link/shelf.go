package link

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// shelf keeps the archive of each lambda that was fetched, as the file
// <name>@<digest>.tar.gz: of one lambda, the last one.
type shelf struct {
	dir string

	mu      sync.Mutex
	digests map[string]string
}

const archiveSuffix = ".tar.gz"

// openShelf finds what an earlier run has kept, and removes what it left half
// done.
func openShelf(dir string) (*shelf, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make directory for code: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read directory for code: %w", err)
	}
	s := &shelf{dir: dir, digests: map[string]string{}}
	for _, e := range entries {
		name, digest, ok := strings.Cut(strings.TrimSuffix(e.Name(), archiveSuffix), "@")
		if !ok || strings.HasPrefix(e.Name(), ".") || s.digests[name] != "" {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return nil, fmt.Errorf("clean directory for code: %w", err)
			}
			continue
		}
		s.digests[name] = digest
	}
	return s, nil
}

func (s *shelf) path(name, digest string) string {
	return filepath.Join(s.dir, name+"@"+digest+archiveSuffix)
}

func (s *shelf) digest(name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.digests[name]
	return d, ok
}

func (s *shelf) names() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.digests))
	for n := range s.digests {
		names = append(names, n)
	}
	slices.Sort(names)
	return names, nil
}

// put keeps an archive, which must have the digest, instead of the last one.
func (s *shelf) put(name, digest string, archive io.Reader) error {
	f, err := os.CreateTemp(s.dir, ".get-*")
	if err != nil {
		return fmt.Errorf("keep code: %w", err)
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, h), archive)
	err = errors.Join(err, f.Close())
	if got := hex.EncodeToString(h.Sum(nil)); err == nil && got != digest {
		err = fmt.Errorf("the archive has the digest %.12s, not %.12s", got, digest)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep code: %w", err), os.Remove(f.Name()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Rename(f.Name(), s.path(name, digest)); err != nil {
		return fmt.Errorf("keep code: %w", err)
	}
	old := s.digests[name]
	s.digests[name] = digest
	if old != "" && old != digest {
		return os.Remove(s.path(name, old))
	}
	return nil
}

func (s *shelf) open(name string) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	digest, ok := s.digests[name]
	if !ok {
		return nil, os.ErrNotExist
	}
	return os.Open(s.path(name, digest))
}

// drop forgets a lambda that was removed from the cluster.
func (s *shelf) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if digest, ok := s.digests[name]; ok {
		delete(s.digests, name)
		_ = os.Remove(s.path(name, digest)) // what stays is found and removed at the next start
	}
}
