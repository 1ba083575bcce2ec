package debian

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// compilePython compiles the standard library and the packages, which a
// read-only image cannot do later, and runs probe, which shows that the image's
// Python works. It runs from outside, by the image's own dynamic loader, so it
// needs no root.
func (b *Builder) compilePython(ctx context.Context, root, probe string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return fmt.Errorf("locate image: %w", err)
	}
	loader, err := only(root, "usr/lib*/ld-linux*.so.*", "usr/lib/*/ld-linux*.so.*")
	if err != nil {
		return err
	}
	library, err := only(root, "usr/lib/python3.[0-9]*")
	if err != nil {
		return err
	}
	python := []string{
		"PYTHONHOME=" + filepath.Join(root, "usr"), loader,
		"--library-path", libraryPath(root), filepath.Join(root, "usr/bin/python3"),
	}
	// Checked by content once and never again: no time stamps get in.
	compile := []string{"-I", "-m", "compileall", "-q", "-s", root, "-p", "/", "--invalidation-mode", "unchecked-hash", "-j", "0", library}
	if packages := filepath.Join(root, pythonPackages); exists(packages) {
		compile = append(compile, packages)
	}
	for _, args := range [][]string{{"-I", "-B", "-c", probe}, compile} {
		if _, err := b.run(ctx, "", "env", slices.Concat(python, args)...); err != nil {
			return fmt.Errorf("run the image's python: %w", err)
		}
	}
	return nil
}

// pythonPackages is where Debian puts modules of all versions of Python 3.
const pythonPackages = "usr/lib/python3/dist-packages"

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// libraryPath lists where the image's libraries are, for its dynamic loader.
func libraryPath(root string) string {
	dirs, err := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu*"))
	if err != nil {
		dirs = nil // only a malformed pattern
	}
	return strings.Join(append(dirs, filepath.Join(root, "usr/lib")), ":")
}

// only returns the regular file or directory that one of the patterns matches.
func only(root string, patterns ...string) (string, error) {
	for _, pattern := range patterns {
		matches, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return "", fmt.Errorf("look for %s: %w", pattern, err)
		}
		for _, match := range matches {
			info, err := os.Lstat(match)
			if err == nil && info.Mode()&os.ModeSymlink == 0 {
				return match, nil
			}
		}
	}
	return "", fmt.Errorf("look into the image: nothing matches %s", patterns[0])
}
