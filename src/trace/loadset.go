package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// loadSet finds the three files in a directory by their names.
func loadSet(dir string) (Source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Source{}, fmt.Errorf("load trace: %w", err)
	}
	find := func(part string) (string, error) {
		for _, e := range entries {
			if strings.Contains(e.Name(), part) && strings.Contains(e.Name(), ".csv") {
				return filepath.Join(dir, e.Name()), nil
			}
		}
		return "", fmt.Errorf("load trace: directory %s has no CSV file with %q in its name", dir, part)
	}
	var paths [3]string
	for i, part := range []string{"invocations", "durations", "memory"} {
		if paths[i], err = find(part); err != nil {
			return Source{}, err
		}
	}
	return loadThree(paths)
}

// loadBeside finds the other two files of a set next to the invocations.
func loadBeside(path string) (Source, error) {
	dir, base := filepath.Split(path)
	if !strings.Contains(base, "invocations") {
		return Source{}, fmt.Errorf("load trace: %s holds invocations per minute and has no %q in its name: give the directory that holds durations and memory too", path, "invocations")
	}
	named := func(part string) string { return filepath.Join(dir, strings.Replace(base, "invocations", part, 1)) }
	return loadThree([3]string{path, named("durations"), named("memory")})
}

func loadThree(paths [3]string) (Source, error) {
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
