package unpack

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
)

// ContentError is an archive that unpacks but is no lambda.
type ContentError struct{ Reason string }

// Error says what is missing or wrong.
func (e *ContentError) Error() string { return e.Reason }

// Lambda extracts an archive into dir, which must not exist, and checks that
// it is a lambda. A fault of the archive is an *archive.RefusedError or a
// *ContentError; after any error dir does not exist.
func Lambda(r io.Reader, dir string, lim archive.Limits) (lambda.Config, []string, error) {
	if err := archive.Extract(r, dir, lim); err != nil {
		return lambda.Config{}, nil, err
	}
	c, warnings, err := lambda.ReadDir(dir)
	if format := (*lambda.FormatError)(nil); errors.As(err, &format) {
		err = &ContentError{Reason: err.Error()}
	}
	if err == nil {
		err = checkEntry(dir, &c)
	}
	if err != nil {
		return lambda.Config{}, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, warnings, nil
}

// checkEntry finds something to run: the entry file, a native program, or
// what OL_WSGI_ENTRY or OL_ASGI_ENTRY name.
func checkEntry(dir string, c *lambda.Config) error {
	if c.Environment["OL_WSGI_ENTRY"] != "" || c.Environment["OL_ASGI_ENTRY"] != "" {
		return nil
	}
	for _, name := range []string{c.Entry(), "f.bin", "bootstrap"} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err == nil && fi.Mode().IsRegular() {
			return nil
		}
	}
	return &ContentError{Reason: fmt.Sprintf(
		"there is no entry file %s at the top of the archive: add it, or name another by OL_ENTRY_FILE in the environment of %s",
		c.Entry(), lambda.ConfigFile)}
}
