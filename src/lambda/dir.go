package lambda

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FormatError is an ol.yaml or a list of packages that cannot be used. It is the author's fault.
type FormatError struct{ Err error }

// Error says what is wrong, and in which line.
func (e *FormatError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FormatError) Unwrap() error { return e.Err }

// ReadDir reads the configuration of the lambda in dir, with the packages that
// it needs; without an ol.yaml it is the default. The warnings name what has no effect. A *FormatError is a
// fault of the lambda, any other error one of the disk.
func ReadDir(dir string) (Config, []string, error) {
	text, err := readStart(filepath.Join(dir, ConfigFile), MaxConfigBytes+1)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Default(), nil, fmt.Errorf("read %s: %w", ConfigFile, err)
	}
	c, warnings, err := Parse(text)
	if err != nil {
		return c, nil, &FormatError{Err: err}
	}
	return c, warnings, c.readPackages(dir)
}

// readStart reads the beginning of a regular file: an archive can hold an
// ol.yaml of any size, or a directory of that name.
func readStart(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &FormatError{Err: errors.New("it is not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}
