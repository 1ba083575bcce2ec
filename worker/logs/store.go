package logs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/worker/fault"
)

// Config bounds the logs of each function.
type Config struct {
	Dir   string           // worker_dir/logs
	Max   int64            // bytes on disk for one function
	Rate  int64            // bytes in a second that are kept in the long run; 0: 2 MB
	Burst int64            // bytes that may come at once; 0: 8 MB
	Now   func() time.Time // nil: time.Now
	Fault fault.Injector   // for tests
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
// sandbox needs its own: it remembers the request that runs. It is to be closed
// when the sandbox is gone; the file is open for so long.
func (s *Store) Sandbox(function string) io.WriteCloser {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[function]
	if f == nil {
		f = &file{function: function, path: s.Path(function), cfg: &s.cfg, tokens: s.cfg.Burst}
		s.files[function] = f
	}
	f.forgotten = false
	f.enter()
	return &stream{file: f, store: s}
}

// left ends one sandbox' use of a file. What is known of it is forgotten with
// the last, if the function is.
func (s *Store) left(f *file) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, err := f.leave()
	if last && f.forgotten {
		delete(s.files, f.function)
	}
	return err
}

// Forget says that a function is not there any more. Its log stays on the disk,
// for whoever wants to know why.
func (s *Store) Forget(function string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[function]
	if f == nil {
		return
	}
	if f.forgotten = true; f.idle() {
		delete(s.files, function)
	}
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
