package sock

import (
	"slices"
	"strings"
)

// ingredient is what a package of a tree means for one lambda: modules to
// import, from a package that was installed for it or from the base.
type ingredient struct {
	pkg     *Package // nil: the base's own
	modules []string
}

// String tells ingredients apart: same text, same modules in the zygote.
func (i ingredient) String() string {
	from := ""
	if i.pkg != nil {
		from = i.pkg.Name
	}
	return from + ":" + strings.Join(i.modules, ",")
}

// meaning finds out what a name in the tree means for a lambda; false if the
// lambda does not use the package, or another version of it.
func meaning(name string, spec *Spec) (ingredient, bool) {
	bare, version, pinned := strings.Cut(name, "==")
	for i := range spec.Packages {
		p := &spec.Packages[i]
		if n, v, _ := strings.Cut(p.Name, "=="); canonical(n) == bare && (!pinned || v == version) {
			return ingredient{p, public(p.Modules)}, true
		}
	}
	if pinned {
		return ingredient{}, false
	}
	for _, module := range spec.Imports {
		if canonical(module) == bare {
			return ingredient{providerOf(module, spec), []string{module}}, true
		}
	}
	return ingredient{}, false
}

// public leaves out what a package has for itself.
func public(modules []string) []string {
	return slices.DeleteFunc(slices.Clone(modules), func(m string) bool { return strings.HasPrefix(m, "_") })
}

// providerOf is the package from which a lambda imports a module; nil is the base.
func providerOf(module string, spec *Spec) *Package {
	top, _, _ := strings.Cut(module, ".")
	for i := range spec.Packages {
		if slices.Contains(spec.Packages[i].Modules, top) {
			return &spec.Packages[i]
		}
	}
	return nil
}

// recipe says how to make a zygote: which one to fork, what to import then.
type recipe struct {
	parent   *recipe // nil: the root zygote
	key      string  // the same for the same modules, imported in the same order
	own      []ingredient
	packages []Package // to be seen by it: its own and those above
	size     int       // ingredients on the whole path
}

// modules are those that the zygote imports itself.
func (r *recipe) modules() []string {
	var out []string
	for _, i := range r.own {
		out = append(out, i.modules...)
	}
	return out
}

// recipes lists every zygote of the tree that could serve a lambda, each behind
// the one that it is forked from.
func recipes(nodes []TreeNode, spec *Spec) []*recipe {
	var out []*recipe
	var walk func(nodes []TreeNode, parent *recipe)
	walk = func(nodes []TreeNode, parent *recipe) {
		for i := range nodes {
			if r, ok := extend(parent, nodes[i].Packages, spec); ok {
				out = append(out, r)
				walk(nodes[i].Children, r)
			}
		}
	}
	walk(nodes, nil)
	return out
}

func extend(parent *recipe, names []string, spec *Spec) (*recipe, bool) {
	r := &recipe{parent: parent}
	if parent != nil {
		r.key, r.size, r.packages = parent.key, parent.size, slices.Clone(parent.packages)
	}
	for _, name := range names {
		i, ok := meaning(name, spec)
		if !ok {
			return nil, false
		}
		r.own = append(r.own, i)
		r.key += "/" + i.String()
		r.size++
		if i.pkg != nil && !slices.ContainsFunc(r.packages, func(p Package) bool { return p.Name == i.pkg.Name }) {
			r.packages = append(r.packages, *i.pkg)
		}
	}
	return r, true
}

// suits tells whether a lambda would get the modules that a zygote has loaded,
// by module name with the package that each is from, if it imported them
// itself: not if it brings along one of that name, or needs another package
// that has one.
func suits(loaded map[string]string, spec *Spec) bool {
	for _, own := range spec.Own {
		if _, ok := loaded[own]; ok {
			return false
		}
	}
	for i := range spec.Packages {
		p := &spec.Packages[i]
		for _, module := range p.Modules {
			if from, ok := loaded[module]; ok && from != p.Name {
				return false
			}
		}
	}
	return true
}
