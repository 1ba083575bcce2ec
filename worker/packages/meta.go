package packages

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/open-lambda/open-lambda/src/lambda"
)

// Names in a package's directory.
const (
	filesDir = "files"     // what pip installed
	metaFile = "meta.json" // written last: with it the package is whole
)

// meta is what is known of an installed package.
type meta struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Bytes    int64    `json:"bytes"`    // of its files
	Modules  []string `json:"modules"`  // top-level, sorted
	Requires []string `json:"requires"` // other packages, as the package itself says; nothing acts on it but a check
}

// key names a package and version, and its directory.
func key(name, version string) string { return name + "==" + version }

// inspect finds out what pip has installed into files, and lets every user
// read it.
func inspect(files string) (meta, error) {
	var m meta
	entries, err := os.ReadDir(files)
	if err != nil {
		return m, fmt.Errorf("read installed package: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasSuffix(e.Name(), ".dist-info") && m.Name == "" {
			if err := m.readInfo(filepath.Join(files, e.Name(), "METADATA")); err != nil {
				return m, err
			}
		}
		if name, ok := moduleName(e); ok {
			m.Modules = append(m.Modules, name)
		}
	}
	if m.Name == "" || m.Version == "" {
		return m, errors.New("read installed package: it has no name or no version")
	}
	if !plausible.MatchString(m.Name) || !plausible.MatchString(m.Version) {
		return m, fmt.Errorf("read installed package: its name %.100q or version %.100q is none", m.Name, m.Version)
	}
	slices.Sort(m.Modules)
	m.Modules = slices.Compact(m.Modules)
	m.Bytes, err = measure(files, openUp)
	return m, err
}

// plausible is a name or a version as it may stand in the name of a directory.
// What a package says of itself is whatever its author, or its setup.py, wrote.
var plausible = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9.+!_-]{0,98}[a-z0-9])?$`)

// maxInfo is how much of a METADATA file is read, bytes; its header is first.
const maxInfo = 1 << 20

// readInfo reads the header of a METADATA file. It may be anything: setup.py
// runs with the rights to write it.
func (m *meta) readInfo(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", filepath.Base(path))
	}
	if err != nil {
		return fmt.Errorf("read installed package: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read installed package: %w", err)
	}
	defer f.Close()
	return m.parseInfo(io.LimitReader(f, maxInfo))
}

// parseInfo reads the header, which an empty line ends.
func (m *meta) parseInfo(r io.Reader) error {
	s := bufio.NewScanner(r)
	for s.Scan() && s.Text() != "" {
		field, value, _ := strings.Cut(s.Text(), ":")
		value = strings.TrimSpace(value)
		switch field {
		case "Name":
			m.Name = lambda.PackageName(value)
		case "Version":
			m.Version = strings.ToLower(value)
		case "Requires-Dist":
			if !strings.Contains(value, "extra ") {
				m.Requires = append(m.Requires, value)
			}
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("read installed package: %w", err)
	}
	return nil
}

// moduleName tells which module a directory entry is.
func moduleName(e fs.DirEntry) (string, bool) {
	name, suffix, dotted := strings.Cut(e.Name(), ".")
	switch {
	case !isIdentifier(name) || name == "__pycache__" || name == "bin" && e.IsDir():
		return "", false
	case e.IsDir():
		return name, !dotted
	}
	return name, suffix == "py" || strings.HasSuffix(suffix, "so")
}

func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// measure sums the sizes of the files below dir and lets each see them.
func measure(dir string, each func(path string, info fs.FileInfo) error) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum += info.Size()
		return each(path, info)
	})
	if err != nil {
		return 0, fmt.Errorf("measure package: %w", err)
	}
	return sum, nil
}

// openUp lets everybody read a file, and enter a directory.
func openUp(path string, info fs.FileInfo) error {
	want := info.Mode().Perm() | 0o444
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return nil
	case info.IsDir() || want&0o100 != 0:
		want |= 0o111
	}
	if want == info.Mode().Perm() {
		return nil
	}
	return os.Chmod(path, want)
}

func readMeta(dir string) (meta, error) {
	var m meta
	text, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("read %s of package: %w", metaFile, err)
	}
	return m, nil
}

func (m meta) write(dir string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s of package: %w", metaFile, err)
	}
	return os.WriteFile(filepath.Join(dir, metaFile), append(text, '\n'), 0o644)
}
