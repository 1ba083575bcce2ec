package packages

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// open reads the directory, once.
func (s *Store) open() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if s.lock != nil {
		return nil
	}
	if err := os.MkdirAll(s.cfg.Dir, 0o755); err != nil {
		return fmt.Errorf("make Pkgs_dir: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(s.cfg.Dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock Pkgs_dir: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		return fmt.Errorf("lock Pkgs_dir %s: another worker uses it (%w): give each its own", s.cfg.Dir, err)
	}
	if err := s.load(); err != nil {
		lock.Close()
		return err
	}
	s.lock = lock
	return nil
}

// load finds what is installed and removes what is not whole. mu is held.
func (s *Store) load() error {
	entries, err := os.ReadDir(s.cfg.Dir)
	if err != nil {
		return fmt.Errorf("read Pkgs_dir: %w", err)
	}
	s.all = map[string]*pkg{}
	for _, e := range entries {
		dir := filepath.Join(s.cfg.Dir, e.Name())
		if isTemporary(e.Name()) {
			s.warn("remove half-done package", os.RemoveAll(dir))
			continue
		}
		if m, err := readMeta(dir); err == nil && e.Name() == key(m.Name, m.Version) {
			s.all[e.Name()] = &pkg{meta: m, dir: dir, used: modified(dir)}
		}
	}
	s.resolved, err = s.readResolved()
	return err
}

// modified is when a package was last used, as far as the disk knows.
func modified(dir string) time.Time {
	info, err := os.Stat(filepath.Join(dir, metaFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (s *Store) warn(what string, err error) {
	if err != nil {
		s.cfg.Logger.Warn(what, slog.Any("error", err))
	}
}
