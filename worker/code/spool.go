package code

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// inMemory is the largest archive that is kept in memory while it is
// extracted. Most lambdas are far smaller, and making and removing a file costs
// more than extracting them.
const inMemory = 1 << 20

// spool holds an archive between fetching and extracting it.
type spool struct {
	dir  string // for the file of a large one
	mem  bytes.Buffer
	file *os.File // has no name any more; nil while all is in mem
}

// Write adds to the archive.
func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.mem.Len()+len(p) > inMemory {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	if s.file != nil {
		return s.file.Write(p)
	}
	return s.mem.Write(p)
}

func (s *spool) spill() error {
	f, err := os.CreateTemp(s.dir, ".fetch-*")
	if err != nil {
		return err
	}
	s.file = f
	_, err = s.mem.WriteTo(f)
	s.mem = bytes.Buffer{}
	return errors.Join(os.Remove(f.Name()), err)
}

// rewind ends writing.
func (s *spool) rewind() error {
	if s.file == nil {
		return nil
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return err
}

// reader reads the archive from its beginning; once, after rewind.
func (s *spool) reader() io.Reader {
	if s.file != nil {
		return s.file
	}
	return &s.mem
}

func (s *spool) close() {
	if s.file != nil {
		s.file.Close() // only read from; nothing to lose
	}
}
