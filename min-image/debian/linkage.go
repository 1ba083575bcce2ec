package debian

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// checkLinkage fails when an extension module of the image's Python needs a
// library that the image does not have, directly or not. Trying it from outside
// would not tell: there the dynamic loader finds the libraries of this machine.
func checkLinkage(root string) error {
	modules, err := extensionModules(root)
	if err != nil {
		return fmt.Errorf("check libraries: %w", err)
	}
	c := linkage{root: root, seen: map[string]bool{}}
	for _, module := range modules {
		if err := c.check(module); err != nil {
			return fmt.Errorf("check libraries: %w", err)
		}
	}
	return nil
}

func extensionModules(root string) ([]string, error) {
	dirs, err := filepath.Glob(filepath.Join(root, "usr/lib/python3*"))
	if err != nil {
		return nil, err
	}
	var modules []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".so") {
				modules = append(modules, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return modules, nil
}

type linkage struct {
	root string
	seen map[string]bool
}

// check looks for what a file needs, and for what that needs in turn.
func (c *linkage) check(path string) error {
	if c.seen[path] {
		return nil
	}
	c.seen[path] = true
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	needed, err := file.ImportedLibraries()
	own, _ := file.DynString(elf.DT_RUNPATH) // absent in most
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	for _, name := range needed {
		found := c.find(name, path, own)
		if found == "" {
			return fmt.Errorf("%s needs %s, which no package of the image brings", strings.TrimPrefix(path, c.root+"/"), name)
		}
		if err := c.check(found); err != nil {
			return err
		}
	}
	return nil
}

// find looks where the image's dynamic loader will.
func (c *linkage) find(name, from string, runpaths []string) string {
	dirs := strings.Split(libraryPath(c.root), ":")
	for _, list := range runpaths {
		for dir := range strings.SplitSeq(list, ":") {
			dir = strings.ReplaceAll(dir, "$ORIGIN", strings.TrimPrefix(filepath.Dir(from), c.root))
			dirs = append(dirs, filepath.Join(c.root, dir))
		}
	}
	dirs = append(dirs, filepath.Join(c.root, "usr/lib64"))
	for _, dir := range dirs {
		if path, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err == nil {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path
			}
		}
	}
	return ""
}
