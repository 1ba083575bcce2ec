package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// countsHead begins a file of invocations of Azure Functions 2019.
const countsHead = "HashOwner,HashApp,HashFunction,Trigger"

// Files lists the files that Load reads of a path: the path itself, or the three of
// a set.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("find trace: %w", err)
	}
	find := setIn
	if !info.IsDir() {
		head, err := firstLine(path)
		if err != nil || !strings.HasPrefix(head, countsHead) {
			return []string{path}, err
		}
		find = setBeside
	}
	paths, err := find(path)
	return paths[:], err
}

// setIn finds the three files in a directory by their names.
func setIn(dir string) (paths [3]string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return paths, fmt.Errorf("load trace: %w", err)
	}
	find := func(part string) (string, error) {
		for _, e := range entries {
			if strings.Contains(e.Name(), part) && strings.Contains(e.Name(), ".csv") {
				return filepath.Join(dir, e.Name()), nil
			}
		}
		return "", fmt.Errorf("load trace: directory %s has no CSV file with %q in its name", dir, part)
	}
	for i, part := range []string{"invocations", "durations", "memory"} {
		if paths[i], err = find(part); err != nil {
			return paths, err
		}
	}
	return paths, nil
}

// setBeside finds the other two files of a set next to the invocations.
func setBeside(path string) ([3]string, error) {
	dir, base := filepath.Split(path)
	if !strings.Contains(base, "invocations") {
		return [3]string{}, fmt.Errorf("load trace: %s holds invocations per minute and has no %q in its name: give the directory that holds durations and memory too", path, "invocations")
	}
	named := func(part string) string { return filepath.Join(dir, strings.Replace(base, "invocations", part, 1)) }
	return [3]string{path, named("durations"), named("memory")}, nil
}

// loadSet reads the three files that were found.
func loadSet(paths [3]string, err error) (Source, error) {
	if err != nil {
		return Source{}, err
	}
	var files [3]*os.File
	for i, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return Source{}, fmt.Errorf("open trace: %w", err)
		}
		defer f.Close() //nolint:errcheck // read only
		files[i] = f
	}
	s, err := Azure2019(Set{paths[0], paths[1], paths[2], files[0], files[1], files[2]})
	s.Name = filepath.Base(paths[0])
	return s, err
}
