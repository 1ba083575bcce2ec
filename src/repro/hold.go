package repro

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// HeldError says that another process writes into a directory of results.
type HeldError struct{ Dir string }

// Error names the directory.
func (e *HeldError) Error() string { return "another ol repro writes into " + e.Dir }

// unfinished begins the names of files that are being written.
const unfinished = ".new-"

// Hold makes a directory of results and takes it for this process alone until it
// is closed or the process ends. It removes what an interrupted one left half
// written. It fails with a *HeldError while another process has it.
func Hold(dir string) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make directory of results: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock results: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		err = &HeldError{dir}
	case err != nil:
		err = fmt.Errorf("lock results: %w", err)
	default:
		err = removeUnfinished(dir, true)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// removeUnfinished looks into a directory, and into those in it.
func removeUnfinished(dir string, deeper bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look for unfinished files: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir() && deeper:
			err = removeUnfinished(path, false)
		case e.Type().IsRegular() && strings.HasPrefix(e.Name(), unfinished):
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove unfinished file: %w", err)
		}
	}
	return nil
}
