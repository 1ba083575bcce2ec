package logs

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/worker/fault"
)

// file is the log of one function, shared by its sandboxes. It is open while
// there are any.
type file struct {
	function, path string
	cfg            *Config
	forgotten      bool // guarded by Store.mu

	mu      sync.Mutex
	f       *os.File // nil until the first line
	size    int64
	torn    bool // the last line is not whole
	users   int  // sandboxes
	closed  bool
	tokens  int64 // bytes that may be written now
	filled  time.Time
	dropped int64 // lines since the last one that was written
	refused int64 // lines that the disk did not take since then
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
	if !f.confess(now) || !f.write(now, id, text) {
		f.refused++
	}
	if f.users == 0 { // a last word
		_ = f.shut() // nothing was left to be written
	}
}

// confess says which lines are missing before the next; false if even that
// cannot be written.
func (f *file) confess(now time.Time) bool {
	if f.dropped > 0 {
		text := fmt.Appendf(nil, "[%d lines dropped: printed faster than %d bytes a second]", f.dropped, f.cfg.Rate)
		if !f.write(now, nobody, text) {
			return false
		}
		f.dropped = 0
	}
	if f.refused > 0 {
		if !f.write(now, nobody, fmt.Appendf(nil, "[%d lines lost: the disk did not take them]", f.refused)) {
			return false
		}
		f.refused = 0
	}
	return true
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

// write tells whether the line was written.
func (f *file) write(now time.Time, id string, text []byte) bool {
	if f.open() != nil {
		return false
	}
	b := make([]byte, 0, len(text)+64)
	if f.torn {
		b = append(b, '\n')
	}
	b = now.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(b, ' ')
	b = append(b, id...)
	b = append(b, ' ')
	b = append(b, text...)
	b = append(b, '\n')
	if f.size+int64(len(b)) > f.cfg.Max/2 && f.size > 0 && f.rotate() != nil {
		return false
	}
	n, err := f.cfg.Fault.Writer(fault.Log, f.f).Write(b)
	f.size += int64(n)
	if n > 0 {
		f.torn = err != nil
	}
	return err == nil
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

// enter begins one sandbox' use.
func (f *file) enter() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users++
}

// leave ends it, and tells whether it was the last.
func (f *file) leave() (last bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users--; f.users > 0 {
		return false, nil
	}
	return true, f.shut()
}

func (f *file) idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.users == 0
}

func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return f.shut()
}

// shut closes the file until the next line. mu is held.
func (f *file) shut() error {
	if f.f == nil {
		return nil
	}
	err := f.f.Close()
	f.f = nil
	return err
}
