package debian

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// linkAlternatives gives libraries that come in several makes, below
// directories of their own, the place where programs look for them, as the
// alternatives system would. The first make in alphabetical order is taken;
// with the packages of our layers there is one of each.
func linkAlternatives(root string) error {
	for _, library := range []string{"libblas.so.3", "liblapack.so.3"} {
		found, err := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu*/*", library))
		if err != nil {
			return fmt.Errorf("look for %s: %w", library, err)
		}
		slices.Sort(found)
		for _, path := range found {
			make := filepath.Base(filepath.Dir(path))
			err := os.Symlink(filepath.Join(make, library), filepath.Join(filepath.Dir(filepath.Dir(path)), library))
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("link %s: %w", library, err)
			}
		}
	}
	return nil
}
