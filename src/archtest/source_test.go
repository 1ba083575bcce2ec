package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// clockCalls read or wait for the machine's clock.
func clockCalls() map[string]bool {
	return map[string]bool{
		"time.Now": true, "time.Since": true, "time.Until": true, "time.Sleep": true, "time.After": true,
		"time.AfterFunc": true, "time.Tick": true, "time.NewTimer": true, "time.NewTicker": true,
	}
}

// globalRandom are functions of math/rand/v2 that draw from the shared source.
func globalRandom() map[string]bool {
	return map[string]bool{
		"rand.Int": true, "rand.IntN": true, "rand.Int64": true, "rand.Int64N": true, "rand.Uint32": true,
		"rand.Uint64": true, "rand.Float64": true, "rand.Float32": true, "rand.N": true, "rand.Perm": true,
		"rand.Shuffle": true, "rand.NormFloat64": true, "rand.ExpFloat64": true,
	}
}

// eachFile parses every file of a package that is built, tests excluded.
func eachFile(t *testing.T, p listed, visit func(fset *token.FileSet, name string, file *ast.File)) {
	t.Helper()
	for _, name := range p.GoFiles {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatalf("parse %s: %v", name, err)
		}
		visit(fset, name, file)
	}
}

// selector returns "pkg.Name" for such an expression, else "".
func selector(n ast.Node) string {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if pkg, ok := sel.X.(*ast.Ident); ok {
		return pkg.Name + "." + sel.Sel.Name
	}
	return ""
}

// Equal inputs give equal decisions: what is below policies and in the
// simulator reads no clock, draws from no shared source, starts no goroutine.
func TestDeterminism(t *testing.T) {
	clock, random := clockCalls(), globalRandom()
	for _, p := range packages(t) {
		rel := strings.TrimPrefix(p.ImportPath, module)
		pure := within(rel, "policies")
		if !pure && !within(rel, "src/sim") && !within(rel, "src/trace") {
			continue
		}
		eachFile(t, p, func(fset *token.FileSet, _ string, file *ast.File) {
			ast.Inspect(file, func(n ast.Node) bool {
				name := selector(n)
				if clock[name] || random[name] {
					t.Errorf("%s: %s: time and chance are passed in here", fset.Position(n.Pos()), name)
				}
				switch n.(type) {
				case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt:
					if pure {
						t.Errorf("%s: policies are sequential: no goroutine, no channel", fset.Position(n.Pos()))
					}
				}
				return true
			})
		})
	}
}

// Every package explains itself in doc.go, in the form that go doc reads.
func TestEveryPackageHasDoc(t *testing.T) {
	for _, p := range packages(t) {
		found := false
		eachFile(t, p, func(_ *token.FileSet, name string, file *ast.File) {
			if name != "doc.go" {
				return
			}
			found = true
			text := file.Doc.Text()
			want := "Package " + p.Name + " "
			if p.Name == "main" {
				want = "Command "
			}
			if !strings.HasPrefix(text, want) {
				t.Errorf("%s/doc.go: the package comment must begin with %q", p.ImportPath, want)
			}
		})
		if !found && len(p.GoFiles) > 0 {
			t.Errorf("%s has no doc.go", p.ImportPath)
		}
	}
}

// Nothing happens before main, and nobody but main ends the process.
func TestNoInitAndNoExit(t *testing.T) {
	for _, p := range packages(t) {
		eachFile(t, p, func(fset *token.FileSet, _ string, file *ast.File) {
			ast.Inspect(file, func(n ast.Node) bool {
				if fn, ok := n.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s: init() runs behind the reader's back: use a constructor", fset.Position(n.Pos()))
				}
				if selector(n) == "os.Exit" && p.Name != "main" && !within(p.ImportPath, module+"sock") {
					t.Errorf("%s: only main ends the process: return an error", fset.Position(n.Pos()))
				}
				return true
			})
		})
	}
}

// A package is named for its idea.
func TestPackageNames(t *testing.T) {
	for _, p := range packages(t) {
		switch p.Name {
		case "util", "utils", "common", "helper", "helpers", "misc", "shared", "base":
			t.Errorf("%s: the name %s says nothing", p.ImportPath, p.Name)
		}
		if strings.Contains(p.Name, "_") {
			t.Errorf("%s: no underscores in package names", p.ImportPath)
		}
	}
}
