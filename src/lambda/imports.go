package lambda

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// importStatement is a line that imports modules. Which lines of a program are
// strings is not found out: a module too many is merely imported ahead.
var importStatement = regexp.MustCompile(`^\s*(?:import\s+([\w., \t]+)|from\s+([\w.]+)\s+import\s)`)

// importedModules lists the modules that a Python source imports by name, with
// their parents before them: "a.b" gives a and a.b.
func importedModules(source []byte) []string {
	var out []string
	for line := range bytes.Lines(source) {
		m := importStatement.FindSubmatch(line)
		if m == nil {
			continue
		}
		names := string(m[1]) + string(m[2])
		for name := range strings.SplitSeq(names, ",") {
			if fields := strings.Fields(name); len(fields) > 0 && !strings.HasPrefix(fields[0], ".") {
				out = append(out, withParents(fields[0])...)
			}
		}
	}
	return out
}

func withParents(name string) []string {
	var out []string
	for i, r := range name {
		if r == '.' {
			out = append(out, name[:i])
		}
	}
	return append(out, name)
}

// moduleSet are the modules that a lambda brings along itself. They hide
// packages of the same name.
type moduleSet []string

func ownModules(dir string) moduleSet {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // nothing is hidden that can be seen
	}
	var own moduleSet
	for _, e := range entries {
		name, suffix, _ := strings.Cut(e.Name(), ".")
		_, err := os.Stat(filepath.Join(dir, e.Name(), "__init__.py"))
		if err == nil || suffix == "py" || strings.HasSuffix(suffix, "so") {
			own = append(own, name)
		}
	}
	return own
}

// maxImports is how many modules are imported ahead: a file of a megabyte could
// name hundreds of thousands.
const maxImports = 1000

// without returns the names that are not the lambda's own, each once, in order,
// at most maxImports.
func (own moduleSet) without(names []string) []string {
	hidden, seen := make(map[string]bool, len(own)), map[string]bool{}
	for _, name := range own {
		hidden[name] = true
	}
	var out []string
	for _, name := range names {
		top, _, _ := strings.Cut(name, ".")
		if !hidden[top] && !seen[name] && len(out) < maxImports {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}
