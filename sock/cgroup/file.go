package cgroup

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// writeFile writes a control file in one write, without creating it.
func writeFile(dir, name, value string) error {
	path := filepath.Join(dir, name)
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, []byte(value)); err != nil {
		return &os.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// readInt reads a control file that holds one number; "max" is -1.
func readInt(dir, name string) (int64, error) {
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return 0, err
	}
	text := strings.TrimSpace(string(raw))
	if text == "max" {
		return -1, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse %s: %w", filepath.Join(dir, name), err)
	}
	return n, nil
}

// readKey reads one number of a control file made of "key number" lines; 0 if
// the key is not there.
func readKey(dir, name, key string) (int64, error) {
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return 0, err
	}
	return findKey(raw, key)
}

func findKey(raw []byte, key string) (int64, error) {
	for line := range bytes.Lines(raw) {
		k, v, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if ok && string(k) == key {
			return strconv.ParseInt(string(v), 10, 64)
		}
	}
	return 0, nil
}
