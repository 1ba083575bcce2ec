package logs

import (
	"bytes"
	"sync"
)

// Marks that the runtime writes on a line of their own around what a request
// prints: record separator, B or E, space, request id.
const (
	markBegin = "\x1eB "
	markEnd   = "\x1eE "
)

// longest is the longest line, bytes; longer ones are cut in pieces.
const longest = 16 << 10

// nobody is the id of lines that no request printed.
const nobody = "-"

// stream splits the output of one sandbox into lines.
type stream struct {
	store *Store
	file  *file

	mu   sync.Mutex
	part []byte // of a line that has not ended
	id   string // request that runs; "" for none
	over bool   // the sandbox is gone
}

// Close says that the sandbox is gone. What it still may have written is kept.
func (s *stream) Close() error {
	s.mu.Lock()
	over := s.over
	s.over = true
	s.mu.Unlock()
	if over {
		return nil
	}
	return s.store.left(s.file)
}

// Write takes any piece of output. It never fails.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.keep(p)
			break
		}
		s.keep(p[:i])
		s.end()
		p = p[i+1:]
	}
	return n, nil
}

// keep adds to the line, ending it whenever it is as long as can be.
func (s *stream) keep(p []byte) {
	for len(s.part)+len(p) > longest {
		room := longest - len(s.part)
		s.part = append(s.part, p[:room]...)
		p = p[room:]
		s.end()
	}
	s.part = append(s.part, p...)
}

// end takes the line for a mark or writes it.
func (s *stream) end() {
	line := bytes.TrimSuffix(s.part, []byte("\r"))
	s.part = s.part[:0]
	if i := bytes.IndexByte(line, markBegin[0]); i >= 0 && s.mark(line[i:]) {
		line = line[:i] // text without a newline before the mark
		if len(line) == 0 {
			return
		}
	}
	id := s.id
	if id == "" {
		id = nobody
	}
	s.file.line(s.file.cfg.Now(), id, line)
}

// mark takes over the request of a mark. A lambda can write marks as well:
// it can fool its own log only.
func (s *stream) mark(m []byte) bool {
	if id, ok := bytes.CutPrefix(m, []byte(markBegin)); ok && plausible(id) {
		s.id = string(id)
		return true
	}
	if id, ok := bytes.CutPrefix(m, []byte(markEnd)); ok && plausible(id) {
		s.id = ""
		return true
	}
	return false
}

// plausible keeps ids printable, so that a log can be read by eye.
func plausible(id []byte) bool {
	if len(id) == 0 || len(id) > 128 {
		return false
	}
	for _, c := range id {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
