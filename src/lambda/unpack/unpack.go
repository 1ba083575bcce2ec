package unpack

import (
	"errors"
	"io"
	"os"

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
		if _, fault := c.EntryIn(dir); fault != nil {
			err = &ContentError{Reason: fault.Error()}
		}
	}
	if err != nil {
		return lambda.Config{}, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, warnings, nil
}
