package debian

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// needless are dependencies that only maintainer scripts or interactive use
// call for. What only they need goes with them.
var needless = []string{
	"cdebconf", "debconf", "debianutils", "dpkg", "install-info",
	"mailcap", "mime-support", "openssl", "perl", "perl-base", "readline-common",
	"sensible-utils", "tar",
	// Our runtime serves; scipy and pandas are built already; nobody looks on.
	"python3-uvicorn", "python3-pythran", "python3-pil.imagetk", "python3-tk",
	"libjs-jquery", "libjs-sphinxdoc", "libjs-underscore",
}

// resolve returns the names of the packages that the roots need, themselves
// included, sorted.
func (b *Builder) resolve(ctx context.Context, roots []string) ([]string, error) {
	b.progress("resolve", 0, 1)
	args := []string{
		"depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts",
		"--no-breaks", "--no-replaces", "--no-enhances",
	}
	out, err := b.run(ctx, "", "apt-cache", append(args, roots...)...)
	if err != nil {
		return nil, fmt.Errorf("resolve packages (when apt knows none, run apt-get update): %w", err)
	}
	graph := parseDepends(string(out))
	for _, root := range roots {
		if _, known := graph[root]; !known {
			return nil, fmt.Errorf("resolve packages: apt does not know %s; run apt-get update", root)
		}
	}
	return closure(graph, roots, needless), nil
}

// parseDepends reads the output of apt-cache depends: for each package the
// packages it needs, one of each group of alternatives.
func parseDepends(text string) map[string][]string {
	graph := map[string][]string{}
	var owner string
	var group alternatives
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "":
		case line[0] != ' ':
			graph[owner] = group.flush(graph[owner])
			owner = line
			graph[owner] = []string{}
		case strings.HasPrefix(line, "    "): // provides the virtual package above
			group.provider(strings.TrimSpace(line))
		default:
			if !group.open {
				graph[owner] = group.flush(graph[owner])
			}
			group.add(line)
		}
	}
	graph[owner] = group.flush(graph[owner])
	delete(graph, "")
	return graph
}

// alternatives is one dependency, which several packages may satisfy: the
// first that is real, or provides a virtual one, is taken.
type alternatives struct {
	names []string
	open  bool // the line began with "|": the next one is an alternative
	empty bool // the last name was virtual and has no provider yet
}

func (a *alternatives) add(line string) {
	a.open = strings.HasPrefix(line, " |")
	_, name, _ := strings.Cut(line, ": ")
	a.empty = strings.HasPrefix(name, "<")
	if !a.empty {
		a.names = append(a.names, name)
	}
}

func (a *alternatives) provider(name string) {
	if a.empty {
		a.names = append(a.names, name)
		a.empty = false
	}
}

func (a *alternatives) flush(to []string) []string {
	if len(a.names) > 0 {
		to = append(to, a.names[0])
	}
	*a = alternatives{}
	return to
}

// closure returns what is reachable from the roots without passing excluded.
func closure(graph map[string][]string, roots, excluded []string) []string {
	reached := map[string]bool{}
	todo := slices.Clone(roots)
	for len(todo) > 0 {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reached[name] || slices.Contains(excluded, name) || strings.HasPrefix(name, "perl-modules") {
			continue
		}
		reached[name] = true
		todo = append(todo, graph[name]...)
	}
	names := make([]string, 0, len(reached))
	for name := range reached {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
