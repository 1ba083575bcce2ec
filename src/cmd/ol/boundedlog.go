package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/api"
)

// outputMost is the size at which the log of a worker in the background begins
// anew. With the older one it takes twice as much. Every request that fails is
// a line: without a bound a lambda that fails fills the disk.
const outputMost = 64 << 20

// boundedLog is the standard output and error of a process that write to one
// file.
type boundedLog struct {
	path string
	most int64

	mu   sync.Mutex
	size int64
}

// boundOutput bounds the log at path if that is where this process' output
// goes; else it returns to.
func boundOutput(to io.Writer, path string, most int64) io.Writer {
	file, err := os.Stat(path)
	if err != nil || to != io.Writer(os.Stderr) {
		return to
	}
	out, outErr := os.Stdout.Stat()
	talk, err := os.Stderr.Stat()
	if errors.Join(err, outErr) != nil || !os.SameFile(file, out) || !os.SameFile(file, talk) {
		return to
	}
	return &boundedLog{path: path, most: most, size: file.Size()}
}

// Write is part of io.Writer.
func (l *boundedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size += int64(len(p)); l.size > l.most {
		l.size = int64(len(p))
		if err := l.turn(); err != nil {
			fmt.Fprintf(os.Stderr, "begin log anew: %v\n", err) // tried again after as much
		}
	}
	return os.Stderr.Write(p)
}

// turn begins the log anew; mu is held. What writes to the descriptors, as a
// crash does, goes to the new file too.
func (l *boundedLog) turn() error {
	if err := os.Rename(l.path, l.path+api.LogOlder); err != nil {
		return err
	}
	next, err := os.Create(l.path)
	if err != nil {
		return err
	}
	defer next.Close()
	for _, fd := range []*os.File{os.Stdout, os.Stderr} {
		if err := unix.Dup3(int(next.Fd()), int(fd.Fd()), 0); err != nil {
			return os.NewSyscallError("dup3", err)
		}
	}
	return nil
}
