package sock

import (
	"encoding/json"
	"reflect"
	"testing"
)

// written writes nodes in the form that ParseTree reads.
func written(nodes []TreeNode) []map[string]any {
	out := []map[string]any{}
	for _, n := range nodes {
		out = append(out, map[string]any{"packages": n.Packages, "children": written(n.Children)})
	}
	return out
}

// Whatever a tree says, it is bounded and is written so that it is read as the
// same.
func FuzzTree(f *testing.F) {
	for _, seed := range []string{
		`{"packages": [], "split_generation": 0, "children": [{"packages": ["NumPy==1.26.4"], "children": [{"packages": ["python_dateutil", "pytz"]}, {"packages": [], "children": [{"packages": ["six"]}]}]}]}`,
		`[{"packages": ["a"]}, {"packages": ["b"]}]`, `{"packages": ["a"], "children": [{"packages": ["a"]}]}`, "null", "", "[]", `{"packages": ["../x"]}`, `[{"children": {"packages": ["a_"]}}] `, `{},{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		nodes, err := ParseTree(text)
		if err != nil {
			return
		}
		if n := countNodes(t, nodes, 0); n > maxTreeNodes {
			t.Errorf("%d nodes", n)
		}
		again, err := json.Marshal(written(nodes))
		if err != nil {
			t.Fatal(err)
		}
		read, err := ParseTree(again)
		if err != nil || !reflect.DeepEqual(read, nodes) {
			t.Errorf("%s is %v, and then %v, %v", again, nodes, read, err)
		}
	})
}

// countNodes counts nodes and checks each.
func countNodes(t *testing.T, nodes []TreeNode, depth int) int {
	t.Helper()
	sum := len(nodes)
	for _, n := range nodes {
		if len(n.Packages) == 0 || depth > maxTreeDepth {
			t.Errorf("node %v at depth %d", n.Packages, depth)
		}
		for _, p := range n.Packages {
			if !treeName.MatchString(p) {
				t.Errorf("package %q", p)
			}
		}
		sum += countNodes(t, n.Children, depth+1)
	}
	return sum
}
