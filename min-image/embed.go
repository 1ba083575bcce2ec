package minimage

import (
	"embed"
	"fmt"
	"io/fs"
)

// The package only: the runtime's tests stay outside the binary.
//
//go:embed runtime/olrt/*.py
var files embed.FS

// Runtime returns the runtime's files: a tree with the Python package olrt at
// its top. Its directory, once written somewhere, is what belongs on
// PYTHONPATH. The files are read-only and need no writing at run time.
func Runtime() fs.FS {
	tree, err := fs.Sub(files, "runtime")
	if err != nil {
		panic(fmt.Sprintf("embedded runtime: %v", err)) // only a malformed constant path
	}
	return tree
}
