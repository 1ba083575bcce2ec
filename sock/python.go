package sock

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// pythons are where an interpreter is looked for in a base.
var pythons = []string{"/usr/bin/python3", "/usr/local/bin/python3", "/bin/python3"}

// findPython returns the configured interpreter, or the first of the usual
// ones, that is there.
func findPython(configured string, stat func(string) (os.FileInfo, error)) (string, error) {
	candidates := pythons
	if configured != "" {
		candidates = []string{configured}
	}
	for _, path := range candidates {
		if info, err := stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("find python3 in the base: none of %v is there: %w", candidates, fs.ErrNotExist)
}

// compileArgs are what an interpreter in the root at dir is told for it to
// leave byte code beside the runtime's sources, so that no start has to
// translate them. The rehearsal is for practising just that.
func compileArgs(dir string) ([]string, error) {
	sources, err := filepath.Glob(filepath.Join(dir, "runtime/olrt/*.py"))
	if err != nil {
		return nil, fmt.Errorf("list runtime: %w", err)
	}
	const program = "import py_compile, sys\nfor f in sys.argv[1:]: py_compile.compile(f, doraise=True)"
	args := []string{"-I", "-S", "-c", program}
	for _, path := range sources {
		if filepath.Base(path) != "rehearsal.py" {
			args = append(args, strings.TrimPrefix(path, strings.TrimSuffix(dir, "/")))
		}
	}
	return args, nil
}
