package registry

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// metadata ends the names of files that a bucket may keep beside its objects.
const metadata = ".attrs"

// readable walks a directory of a registry of files, "" for all of it, and
// counts the files. Buckets leave out what they cannot read: to a worker that
// is short of descriptors every lambda would seem to be removed, or to have lost
// half of its files.
func (r *Registry) readable(name string) (files int, err error) {
	if r.dir == "" {
		return 0, nil
	}
	err = filepath.WalkDir(filepath.Join(r.dir, name), func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // it went meanwhile
			return nil
		case err != nil:
			return err
		case !e.IsDir() && !strings.HasSuffix(path, metadata):
			files++
		}
		return nil
	})
	return files, err
}
