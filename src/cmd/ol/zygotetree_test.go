package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/worker/packages/indextest"
)

func TestWithTree(t *testing.T) {
	dir := t.TempDir()
	path, err := writeTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "circle.json"), []byte(`{"packages": ["a"], "children": [{"packages": ["a"]}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	zygote := sock.Config{Zygote: true}
	for _, c := range []struct {
		value string
		cfg   sock.Config
		nodes int
		fault string
	}{
		{"", zygote, 0, ""},
		{path, zygote, len(defaultTree().Children), ""},
		{treeFile, zygote, len(defaultTree().Children), ""},
		{`{"packages": ["numpy"]}`, zygote, 1, ""},
		{`[{"packages": ["numpy"]}, {"packages": ["six"]}]`, zygote, 2, ""},
		{`nonsense`, sock.Config{}, 0, ""}, // features.import_cache is off
		{"nothing.json", zygote, 0, "no such file"},
		{"circle.json", zygote, 0, "below itself"},
		{`{"packages": [7]}`, zygote, 0, "cannot unmarshal number"},
	} {
		n := node{dir: dir, config: config.Config{ImportCacheTree: c.value}}
		got, err := withTree(c.cfg, n)
		var f *failure
		if c.fault == "" && (err != nil || len(got.Tree) != c.nodes) {
			t.Errorf("%s: %d nodes, %v", c.value, len(got.Tree), err)
		}
		if c.fault != "" && (!errors.As(err, &f) || f.code != codeUsage || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: %v", c.value, err)
		}
	}
}

// Every lambda once, as OpenLambda's test of its import cache does it.
func TestCallEachOnce(t *testing.T) {
	x := indextest.Serve(t, indextest.Module("alpha", "1.0", "version = 'one'"), indextest.Module("beta", "1.0", "import alpha"))
	const tree = `import_cache_tree='{"packages": [], "children": [{"packages": ["alpha"], "children": [{"packages": ["beta==1.0"]}]}, {"packages": ["sqlite3"]}]}'`
	for _, cache := range []string{"", "tree", "multitree"} {
		t.Run("import_cache="+cache, func(t *testing.T) {
			n := startLive(t, t.TempDir(), "features.import_cache="+cache+","+tree+",pip_mirror="+x.URL)
			for _, lambdas := range []int{10, 100} {
				n.callEachOnce(fmt.Sprintf("of%d-", lambdas), lambdas)
			}
			if n.pulled() != 2 {
				t.Errorf("pull-package.cnt is %v, want 2", n.pulled())
			}
			if made := strings.Contains(n.logs.String(), "made zygote"); made != (cache != "") {
				t.Errorf("zygotes were made: %v", made)
			}
		})
	}
}

func (n *liveWorker) callEachOnce(prefix string, lambdas int) {
	for i := range lambdas {
		source := fmt.Sprintf("import alpha, beta\ndef f(event):\n    return [%d, alpha.version]\n", i)
		n.put(fmt.Sprintf("%s%d", prefix, i), "f.py", source, "requirements.txt", "alpha==1.0\nbeta==1.0\n")
	}
	const clients = 4
	var callers sync.WaitGroup
	for c := range clients {
		callers.Go(func() {
			for i := c; i < lambdas; i += clients {
				n.expect(fmt.Sprintf("%s%d", prefix, i), 200, fmt.Sprintf(`[%d, "one"]`, i))
			}
		})
	}
	callers.Wait()
}
