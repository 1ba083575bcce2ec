package runc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/open-lambda/open-lambda/sock"
)

// Program is the helper's name.
const Program = "ol-runc"

// ErrNoHelper says that the helper is not installed.
var ErrNoHelper = errors.New("the program " + Program + " is not there")

// Config says how containers are made. Zygote, Pool, Preload, their memory and
// ReuseCgroups have no meaning here.
type Config struct {
	sock.Config
	Helper string // path of the helper; "" looks beside the running program, then in PATH
}

// FindHelper returns the path of the helper that belongs to the running
// program: beside it, else in PATH. It fails with ErrNoHelper.
func FindHelper() (string, error) {
	if self, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(self), Program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	path, err := exec.LookPath(Program)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound):
		return "", ErrNoHelper
	case err != nil:
		return "", fmt.Errorf("find %s: %w", Program, err)
	}
	return filepath.Abs(path)
}
