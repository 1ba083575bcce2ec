package testregistry

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed */*.py */*/*.py
var files embed.FS

// Lambda returns the files of one lambda, "echo" or "abuse/exhaust". It fails if
// there is none of that name.
func Lambda(name string) (fs.FS, error) {
	if _, err := fs.Stat(files, name+"/f.py"); err != nil {
		return nil, fmt.Errorf("find lambda %s: %w", name, err)
	}
	return fs.Sub(files, name)
}
