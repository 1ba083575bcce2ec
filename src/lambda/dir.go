package lambda

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// RequirementsFile is the name of the file in a lambda that names packages.
const RequirementsFile = "requirements.txt"

// FormatError is an ol.yaml that cannot be used. It is the author's fault.
type FormatError struct{ Err error }

// Error says what is wrong, and in which line.
func (e *FormatError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FormatError) Unwrap() error { return e.Err }

// ReadDir reads the configuration of the lambda in dir; without an ol.yaml it
// is the default. The warnings name what has no effect. A *FormatError is a
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
	if info, err := os.Stat(filepath.Join(dir, RequirementsFile)); err == nil && info.Size() > 0 {
		warnings = append(warnings, RequirementsFile+" is there, but packages are not installed in this version: the base image must have them")
	}
	return c, warnings, nil
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
