package sock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// TreeNode is one zygote that may be made below the root zygote or below another
// node: it has imported its packages, and those of every node above it.
type TreeNode struct {
	Packages []string   // "numpy", which is any version or the base's own, or "numpy==1.26.4"
	Children []TreeNode // in the order of preference between equals
}

// maxTreeDepth and maxTreeNodes keep a mistake from making a zygote of everything.
const (
	maxTreeDepth = 32
	maxTreeNodes = 1000
)

// treeName is a package as a tree may name it; a module may have dots.
var treeName = regexp.MustCompile(`^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?(?:==[a-z0-9.+!_-]+)?$`)

// ParseTree reads an import cache tree in OpenLambda's form, an object with
// "packages" and "children", or a list of such objects. It returns what belongs
// below the root zygote.
func ParseTree(text []byte) ([]TreeNode, error) {
	nodes, err := new(treeParser).parse(text, nil)
	if err != nil {
		return nil, fmt.Errorf("parse import cache tree: %w", err)
	}
	return nodes, nil
}

// treeParser counts the nodes that it reads.
type treeParser struct{ count int }

// writtenNode is a node as it is written. What OpenLambda's generator adds
// besides, its split_generation, means nothing here.
type writtenNode struct {
	Packages        []string        `json:"packages"`
	Children        json.RawMessage `json:"children"`
	SplitGeneration json.RawMessage `json:"split_generation"`
}

// parse reads the nodes below a path of packages.
func (p *treeParser) parse(text []byte, path []string) ([]TreeNode, error) {
	nodes, err := decodeNodes(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", treePath(path), err)
	}
	var out []TreeNode
	for _, n := range nodes {
		t, err := p.node(n, path)
		if err != nil {
			return nil, err
		}
		if len(t.Packages) == 0 { // a root, or a node that adds nothing
			out = append(out, t.Children...)
			continue
		}
		out = append(out, t)
	}
	return out, nil
}

func (p *treeParser) node(n writtenNode, path []string) (t TreeNode, err error) {
	if p.count++; p.count > maxTreeNodes {
		return t, fmt.Errorf("more than %d nodes", maxTreeNodes)
	}
	path, t.Packages, err = extendPath(path, n.Packages)
	if err == nil {
		t.Children, err = p.parse(n.Children, path)
	}
	return t, err
}

// decodeNodes decodes an object or a list of objects; nothing and null are none.
func decodeNodes(text []byte) (nodes []writtenNode, err error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	if text[0] == '{' {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&nodes); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text after the tree")
	}
	return nodes, nil
}

// extendPath adds a node's packages to those above it. One that is there
// already would make the tree go round in a circle.
func extendPath(path, packages []string) (below, names []string, err error) {
	if len(path) > maxTreeDepth {
		return nil, nil, fmt.Errorf("%s: more than %d packages on top of each other", treePath(path), maxTreeDepth)
	}
	below = slices.Clone(path)
	for _, p := range packages {
		name := canonical(p)
		if !treeName.MatchString(name) {
			return nil, nil, fmt.Errorf("%s: %q is not the name of a package: write name or name==version", treePath(path), p)
		}
		bare, _, _ := strings.Cut(name, "==")
		for _, above := range below {
			if other, _, _ := strings.Cut(above, "=="); other == bare {
				return nil, nil, fmt.Errorf("%s: %s is below itself: take it out once, or the tree is a circle", treePath(below), p)
			}
		}
		below, names = append(below, name), append(names, name)
	}
	return below, names, nil
}

// canonical is the spelling in which names of packages are compared.
func canonical(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.Join(strings.Fields(name), "")), "_", "-")
}

func treePath(path []string) string {
	if len(path) == 0 {
		return "root"
	}
	return "below " + strings.Join(path, " > ")
}
