package logs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Config bounds the logs of each function.
type Config struct {
	Dir   string           // worker_dir/logs
	Max   int64            // bytes on disk for one function
	Rate  int64            // bytes in a second that are kept in the long run; 0: 2 MB
	Burst int64            // bytes that may come at once; 0: 8 MB
	Now   func() time.Time // nil: time.Now
}

// Store is the directory of logs.
type Store struct {
	cfg Config

	mu    sync.Mutex
	files map[string]*file
}

// Open makes the directory.
func Open(cfg Config) (*Store, error) {
	if cfg.Rate == 0 {
		cfg.Rate = 2 << 20
	}
	if cfg.Burst == 0 {
		cfg.Burst = 8 << 20
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make log directory: %w", err)
	}
	return &Store{cfg: cfg, files: map[string]*file{}}, nil
}

// Path returns the file of a function; the older part has api.LogOlder
// appended.
func (s *Store) Path(function string) string {
	return filepath.Join(s.cfg.Dir, function+".log")
}

// Sandbox returns a writer for the output of one sandbox of a function. Each
// sandbox needs its own: it remembers the request that runs.
func (s *Store) Sandbox(function string) io.Writer {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[function]
	if f == nil {
		f = &file{path: s.Path(function), cfg: &s.cfg, tokens: s.cfg.Burst}
		s.files[function] = f
	}
	return &stream{file: f}
}

// Close closes all files. Later output is dropped.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}
