package archive

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Pack writes the regular files below dir as a tar.gz. entry must be one of
// them, unless it is "". Links and special files are an error that names them; .git and
// __pycache__ are left out. Equal directories give equal bytes: no times or owners are recorded.
func Pack(w io.Writer, dir, entry string) error {
	if entry == "" {
		// Nothing in particular has to be there.
	} else if fi, err := os.Stat(filepath.Join(dir, entry)); err != nil {
		return fmt.Errorf("find entry file %s: %w", entry, err)
	} else if !fi.Mode().IsRegular() {
		return fmt.Errorf("find entry file %s: it is not a regular file", entry)
	}
	gz := gzip.NewWriter(w)
	tw := tar.NewWriter(gz)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return packEntry(tw, dir, path, d)
	})
	if err = errors.Join(err, tw.Close(), gz.Close()); err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	return nil
}

func packEntry(tw *tar.Writer, dir, path string, d fs.DirEntry) error {
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	if d.IsDir() {
		if name != "." && (d.Name() == ".git" || d.Name() == "__pycache__") {
			return filepath.SkipDir
		}
		return nil
	}
	if !d.Type().IsRegular() {
		return fmt.Errorf("%s is not a regular file: remove it or replace it by a copy", name)
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	return packFile(tw, path, filepath.ToSlash(name), info)
}

func packFile(tw *tar.Writer, path, name string, info fs.FileInfo) error {
	h := &tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: info.Size(),
		Mode: int64(fileMode(int64(info.Mode().Perm()))), Format: tar.FormatPAX,
	}
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(tw, f)
	return err
}
