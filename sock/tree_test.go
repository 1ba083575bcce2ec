package sock

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// treeSettings are those of a provider with a tree.
func treeSettings(t *testing.T, tree string) Config {
	t.Helper()
	cfg := settings(t)
	nodes, err := ParseTree([]byte(tree))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Tree, cfg.TreeMB, cfg.Pool = nodes, 256, 1
	return cfg
}

// answer makes a sandbox, calls it once, and says which zygote it was forked from.
func answer(t *testing.T, p *Provider, spec Spec) (text, zygote string) {
	t.Helper()
	s := create(t, p, spec)
	defer destroy(t, s)
	status, text := call(t, s, "{}")
	if status != 200 {
		t.Fatalf("status %d: %s", status, text)
	}
	return strings.TrimSpace(text), s.Info().Zygote
}

// awaitZygote waits until the tree has a live zygote of a kind, or refused it.
func awaitZygote(t *testing.T, p *Provider, key string) *treeZygote {
	t.Helper()
	deadline := time.Now().Add(limit)
	for time.Now().Before(deadline) {
		p.tree.mu.Lock()
		z, _, refused := p.tree.idlest(key), p.tree.pending[key], p.tree.refused[key]
		p.tree.mu.Unlock()
		if z != nil || !refused.IsZero() {
			return z
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("no zygote %s", key)
	return nil
}

// pkg writes a package of one module with a part that is loaded late.
func pkg(t *testing.T, name, version, source string) Package {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"__init__.py": "version = '" + version + "'\n" + source, "late.py": "from . import version\n"} {
		path := filepath.Join(dir, name, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Package{Name: name + "==" + version, Dir: dir, Modules: []string{name}}
}

func TestTreeZygoteServes(t *testing.T) {
	p := newProvider(t, treeSettings(t, `[{"packages": ["alpha"], "children": [{"packages": ["beta"]}]}]`))
	warm(t, p)
	alpha, beta := pkg(t, "alpha", "1", ""), pkg(t, "beta", "1", "import alpha\n")
	other := pkg(t, "other", "1", "")
	source := `import sys
ahead = [m for m in ("alpha", "beta") if m in sys.modules]
import alpha, beta, os
def f(event):
    from alpha import late
    return [ahead, alpha.version, late.version, alpha.__file__, [p for p in sys.path if p.startswith("/packages")], os.environ.get("OMP_NUM_THREADS")]
`
	spec := code(t, "user", source)
	spec.Packages = []Package{other, beta, alpha}
	const paths = `["/packages/other==1", "/packages/beta==1", "/packages/alpha==1"]`
	text, zygote := answer(t, p, spec)
	if want := `[[], "1", "1", "/packages/alpha==1/alpha/__init__.py", ` + paths + `, null]`; text != want || zygote != "" {
		t.Errorf("first: %s from %q", text, zygote)
	}
	const key = "/alpha==1:alpha/beta==1:beta"
	if z := awaitZygote(t, p, key); z == nil || z.loaded["alpha"] != "alpha==1" || z.saves <= 0 || z.bytes <= 0 {
		t.Fatalf("zygote %+v", z)
	} else {
		z.saves = time.Second // so that no child from the pool is preferred
	}
	spec.ID = "next"
	text, zygote = answer(t, p, spec)
	if want := `[["alpha", "beta"], "1", "1", "/packages/alpha==1/alpha/__init__.py", ` + paths + `, null]`; text != want || zygote != key {
		t.Errorf("next: %s from %q", text, zygote)
	}
	spec.ID, spec.Packages = "newer", []Package{pkg(t, "alpha", "2", ""), beta}
	if text, zygote = answer(t, p, spec); !strings.Contains(text, `"2"`) || zygote != "" {
		t.Errorf("another version: %s from %q", text, zygote)
	}
}

// A lambda's own files are never loaded by a zygote, and hide what it has.
func TestTreeZygoteOfTheBase(t *testing.T) {
	p := newProvider(t, treeSettings(t, `{"packages": [], "children": [{"packages": ["wave"]}]}`))
	warm(t, p)
	spec := code(t, "base", "import sys\nahead = 'wave' in sys.modules\nimport wave\ndef f(event):\n    return [ahead, wave.__file__]\n")
	spec.Imports = []string{"sys", "wave"}
	if text, _ := answer(t, p, spec); !strings.HasPrefix(text, "[false") {
		t.Errorf("first: %s", text)
	}
	z := awaitZygote(t, p, "/:wave")
	if z == nil {
		t.Fatal("no zygote")
	}
	z.saves = time.Second
	spec.ID = "again"
	if text, zygote := answer(t, p, spec); !strings.HasPrefix(text, "[true") || zygote != "/:wave" {
		t.Errorf("again: %s from %q", text, zygote)
	}
	spec.ID, spec.Own = "hides", []string{"wave"}
	if err := os.WriteFile(filepath.Join(spec.Dir, "wave.py"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if text, zygote := answer(t, p, spec); text != `[false, "/handler/wave.py"]` || zygote != "" {
		t.Errorf("with its own: %s from %q", text, zygote)
	}
	z.proc.kill()
	<-z.proc.done
	spec.ID, spec.Own = "later", nil
	if text, _ := answer(t, p, spec); !strings.HasPrefix(text, "[false") {
		t.Errorf("after the zygote's death: %s", text)
	}
}

func TestTreeZygoteThatCannotBe(t *testing.T) {
	tree := `[{"packages": ["good"], "children": [{"packages": ["raises"]}, {"packages": ["exits"]}, {"packages": ["threads"]}, {"packages": ["large"]}]}]`
	cfg := treeSettings(t, tree)
	cfg.TreeMB = 32
	p := newProvider(t, cfg)
	warm(t, p)
	good := pkg(t, "good", "1", "")
	for name, source := range map[string]string{
		"raises":  "import sys\nif 'f' not in sys.modules: 1 / 0\n",
		"exits":   "import os, sys\nif 'f' not in sys.modules: os._exit(3)\n",
		"threads": "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n",
		"large":   "import sys\nif 'f' not in sys.modules: kept = b'x' * (100 << 20)\n",
	} {
		t.Run(name, func(t *testing.T) {
			spec := code(t, name, "import "+name+", good\ndef f(event):\n    return 1\n")
			spec.Packages = []Package{good, pkg(t, name, "1", source)}
			answer(t, p, spec)
			if z := awaitZygote(t, p, "/good==1:good/"+name+"==1:"+name); z != nil {
				t.Fatalf("there is a zygote of %d MB", z.bytes>>20)
			}
			z := awaitZygote(t, p, "/good==1:good")
			z.saves = time.Second
			spec.ID += "-again"
			if _, zygote := answer(t, p, spec); zygote != "/good==1:good" {
				t.Errorf("served from %q", zygote)
			}
		})
	}
}

func TestTreeMemoryIsBounded(t *testing.T) {
	cfg := treeSettings(t, `[{"packages": ["a"]}, {"packages": ["b"]}, {"packages": ["c"]}]`)
	cfg.TreeMB = 60
	p := newProvider(t, cfg)
	warm(t, p)
	for _, name := range []string{"a", "b", "c"} {
		spec := code(t, name, "def f(event):\n    return 1\n")
		spec.Packages = []Package{pkg(t, name, "1", "kept = b'x' * (20 << 20)\n")}
		answer(t, p, spec)
		if z := awaitZygote(t, p, "/"+name+"==1:"+name); z == nil {
			t.Fatalf("no zygote of %s", name)
		}
	}
	p.tree.mu.Lock()
	var sum int64
	for _, copies := range p.tree.live {
		sum += copies[0].bytes
	}
	_, first := p.tree.live["/a==1:a"]
	_, last := p.tree.live["/c==1:c"]
	p.tree.mu.Unlock()
	if sum > 60<<20 || first || !last {
		t.Errorf("%d MB in use, the first there: %v, the last: %v", sum>>20, first, last)
	}
}

func TestTreeCopies(t *testing.T) {
	cfg := treeSettings(t, `[{"packages": ["a"]}]`)
	cfg.TreeCopies = 2
	p := newProvider(t, cfg)
	warm(t, p)
	spec := code(t, "one", "def f(event):\n    return 1\n")
	spec.Packages = []Package{pkg(t, "a", "1", "")}
	answer(t, p, spec)
	z := awaitZygote(t, p, "/a==1:a")
	first := p.tree.choose(&spec)
	second := p.tree.choose(&spec)
	if first.from != z || first.want != nil || second.from != z || second.want == nil {
		t.Fatalf("choices %+v, %+v", first, second)
	}
	p.tree.wish(second.want)
	deadline := time.Now().Add(limit)
	for {
		third := p.tree.choose(&spec)
		p.tree.done(third.from)
		if third.from != z {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no copy is made")
		}
		time.Sleep(5 * time.Millisecond)
	}
	p.tree.done(z)
	p.tree.done(z)
}

// Whoever sees a zygote can wish for a copy of it at once: the wish for the first
// ends when that becomes known, not later.
func TestTreeCopyIsWishedForAtOnce(t *testing.T) {
	trees := newTree(&Provider{cfg: Config{TreeMB: 1}})
	r := &recipe{key: "/a:a"}
	trees.wish(r)
	<-trees.wanted
	trees.wish(r)
	if waiting := len(trees.wanted); waiting != 0 {
		t.Errorf("%d wishes wait for what is being made", waiting)
	}
	if err := trees.admit(&treeZygote{recipe: r}); err != nil {
		t.Fatal(err)
	}
	trees.wish(r)
	if waiting := len(trees.wanted); waiting != 1 {
		t.Errorf("%d wishes wait for a copy", waiting)
	}
}

func TestTreeDrawsDifferentNumbers(t *testing.T) {
	p := newProvider(t, treeSettings(t, `[{"packages": ["numpy"]}]`))
	warm(t, p)
	// A stand-in that keeps state as numpy does.
	numpy := pkg(t, "numpy", "1", "")
	text := "import os\nstate = 1\ndef seed():\n    global state\n    state = os.urandom(8).hex()\n"
	if err := os.WriteFile(filepath.Join(numpy.Dir, "numpy/random.py"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(numpy.Dir, "numpy/__init__.py"), []byte("from . import random\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	spec := code(t, "first", "import numpy.random, random\ndef f(event):\n    return [numpy.random.state, random.random()]\n")
	spec.Packages = []Package{numpy}
	answer(t, p, spec)
	z := awaitZygote(t, p, "/numpy==1:numpy")
	z.saves = time.Second
	seen := map[string]bool{}
	for _, id := range []string{"a", "b", "c"} {
		spec.ID = id
		text, zygote := answer(t, p, spec)
		if seen[text] || strings.HasPrefix(text, "[1,") || zygote == "" {
			t.Errorf("%s draws %s", id, text)
		}
		seen[text] = true
	}
}

func TestTreeEndsWithTheProvider(t *testing.T) {
	cfg := treeSettings(t, `[{"packages": ["slow"]}]`)
	p := newProvider(t, cfg)
	warm(t, p)
	spec := code(t, "user", "def f(event):\n    return 1\n")
	spec.Packages = []Package{pkg(t, "slow", "1", "import time\ntime.sleep(600)\n")}
	answer(t, p, spec)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	begun := time.Now()
	if err := p.Close(ctx); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > preloadTime/2 {
		t.Errorf("closing took %v while a zygote imported", took)
	}
}

func TestEstimateGoesByWhereAStartWouldComeFrom(t *testing.T) {
	p := newProvider(t, treeSettings(t, `[{"packages": ["a"]}]`))
	warm(t, p)
	spec := code(t, "one", "def f(event):\n    return 1\n")
	spec.Packages = []Package{pkg(t, "a", "1", "")}
	if took, ok := p.Estimate(spec); ok {
		t.Errorf("estimate %v without a measurement", took)
	}
	answer(t, p, spec)
	plain, ok := p.Estimate(spec)
	if !ok || plain <= 0 {
		t.Errorf("estimate %v, %v", plain, ok)
	}
	z := awaitZygote(t, p, "/a==1:a")
	z.saves = time.Second
	p.estimates.Add(z.recipe.key, 7*time.Hour)
	if took, _ := p.Estimate(spec); took != 7*time.Hour {
		t.Errorf("from the zygote: %v", took)
	}
	p.estimates.Add(z.recipe.key, 2*time.Hour)
	if took, _ := p.Estimate(spec); took != 6*time.Hour {
		t.Errorf("moving average: %v", took)
	}
}
