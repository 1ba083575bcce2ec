package lambda

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Programs are the names of entry files that are executed as they are: they
// serve HTTP/1.1 on the unix socket that OL_SOCKET names. The first is
// OpenLambda's name, the second that of others.
func Programs() []string { return []string{"f.bin", "bootstrap"} }

// EntryIn returns the file of the lambda in dir that is loaded or executed:
// the one that OL_ENTRY_FILE names, f.py, or a program. It is "" when
// OL_WSGI_ENTRY, OL_ASGI_ENTRY or handler name a module, which needs no such
// file. An error is the lambda's fault and says how to mend it.
func (c *Config) EntryIn(dir string) (string, error) {
	names := append([]string{EntryFile}, Programs()...)
	if own := c.Environment["OL_ENTRY_FILE"]; own != "" {
		names = []string{own}
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() {
			return name, checkProgram(name, info)
		}
	}
	if strings.Contains(c.served(), ":") {
		return "", nil
	}
	return "", fmt.Errorf("there is no entry file %s at the top of the lambda: add it, or name another by OL_ENTRY_FILE in the environment of %s",
		c.Entry(), ConfigFile)
}

// served is the first setting that names an object.
func (c *Config) served() string {
	for _, name := range []string{c.Handler, c.Environment["OL_WSGI_ENTRY"], c.Environment["OL_ASGI_ENTRY"]} {
		if name != "" {
			return name
		}
	}
	return ""
}

func checkProgram(name string, info fs.FileInfo) error {
	for _, program := range Programs() {
		if filepath.Base(name) == program && info.Mode()&0o111 == 0 {
			return fmt.Errorf("%s is not executable, and is a program by its name: chmod +x %s", name, name)
		}
	}
	return nil
}
