package logs

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// file is the log of one function, shared by its sandboxes.
type file struct {
	path string
	cfg  *Config

	mu      sync.Mutex
	f       *os.File // nil until the first line
	size    int64
	closed  bool
	tokens  int64 // bytes that may be written now
	filled  time.Time
	dropped int64 // lines since the last one that was written
}

// line writes one line, unless the function prints faster than it may. Errors
// of the disk drop lines too: a lambda must not fail because of its log.
func (f *file) line(now time.Time, id string, text []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || !f.take(now, int64(len(text)+64)) {
		f.dropped++
		return
	}
	if f.dropped > 0 {
		f.write(now, "-", fmt.Appendf(nil, "[%d lines dropped: printed faster than %d bytes a second]", f.dropped, f.cfg.Rate))
		f.dropped = 0
	}
	f.write(now, id, text)
}

// take is a token bucket.
func (f *file) take(now time.Time, n int64) bool {
	if d := now.Sub(f.filled); d > 0 {
		// A long pause fills the bucket; the bound keeps the product small.
		f.tokens = min(f.cfg.Burst, f.tokens+int64(min(d, time.Minute).Seconds()*float64(f.cfg.Rate)))
		f.filled = now
	}
	if f.tokens < n {
		return false
	}
	f.tokens -= n
	return true
}

func (f *file) write(now time.Time, id string, text []byte) {
	if f.open() != nil {
		return
	}
	b := make([]byte, 0, len(text)+64)
	b = now.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(b, ' ')
	b = append(b, id...)
	b = append(b, ' ')
	b = append(b, text...)
	b = append(b, '\n')
	if f.size+int64(len(b)) > f.cfg.Max/2 && f.size > 0 && f.rotate() != nil {
		return
	}
	n, err := f.f.Write(b)
	f.size += int64(n)
	if err != nil {
		f.dropped++
	}
}

func (f *file) open() error {
	if f.f != nil {
		return nil
	}
	h, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if fi, err := h.Stat(); err == nil {
		f.size = fi.Size()
	}
	f.f = h
	return nil
}

// rotate makes room: the file becomes the older one.
func (f *file) rotate() error {
	err := f.f.Close()
	f.f, f.size = nil, 0
	if err != nil {
		return err
	}
	if err := os.Rename(f.path, f.path+api.LogOlder); err != nil {
		return err
	}
	return f.open()
}

func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.f == nil {
		return nil
	}
	return f.f.Close()
}
