package packages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// makeRoom takes unused packages out, least recently used first, until one of
// the given size fits, and returns their directories, which nobody finds any
// more. mu is held.
func (s *Store) makeRoom(bytes int64) ([]string, error) {
	if s.cfg.MaxBytes <= 0 {
		return nil, nil
	}
	total := bytes
	for _, p := range s.all {
		total += p.meta.Bytes
	}
	var gone []string
	for total > s.cfg.MaxBytes {
		k := s.leastUsed()
		if k == "" {
			return gone, errLarge
		}
		p := s.all[k]
		hidden := filepath.Join(s.cfg.Dir, gonePrefix+k)
		if err := os.Rename(p.dir, hidden); err != nil {
			return gone, fmt.Errorf("remove unused package: %w", err)
		}
		delete(s.all, k)
		gone = append(gone, hidden)
		total -= p.meta.Bytes
		s.cfg.Logger.Info("removed unused package", slog.String("version", k), slog.Int64("bytes", p.meta.Bytes))
	}
	return gone, nil
}

// leastUsed is the package without a lease that was used longest ago, "" if
// there is none. mu is held.
func (s *Store) leastUsed() string {
	var best string
	for k, p := range s.all {
		if p.refs > 0 {
			continue
		}
		if b := s.all[best]; b == nil || p.used.Before(b.used) || p.used.Equal(b.used) && k < best {
			best = k
		}
	}
	return best
}

// resolvedFile holds the versions that were chosen for requirements without.
const resolvedFile = "resolved.json"

func (s *Store) readResolved() (map[string]string, error) {
	resolved := map[string]string{}
	text, err := os.ReadFile(filepath.Join(s.cfg.Dir, resolvedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return resolved, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read chosen versions: %w", err)
	}
	if err := json.Unmarshal(text, &resolved); err != nil {
		return nil, fmt.Errorf("read chosen versions: %w: remove %s to choose anew", err, filepath.Join(s.cfg.Dir, resolvedFile))
	}
	return resolved, nil
}

// writeResolved replaces the file at once. mu is held.
func (s *Store) writeResolved() error {
	text, err := json.MarshalIndent(s.resolved, "", "  ")
	if err != nil {
		return fmt.Errorf("write chosen versions: %w", err)
	}
	path := filepath.Join(s.cfg.Dir, resolvedFile)
	temporary := filepath.Join(s.cfg.Dir, stagePrefix+resolvedFile)
	if err := os.WriteFile(temporary, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write chosen versions: %w", err)
	}
	return os.Rename(temporary, path)
}
