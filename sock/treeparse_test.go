package sock

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTree(t *testing.T) {
	got, err := ParseTree([]byte(`{"packages": [], "split_generation": 0, "children": [
		{"packages": ["NumPy==1.26.4"], "children": [{"packages": ["python_dateutil", "pytz"], "children": []}, {"packages": [], "children": [{"packages": ["six"]}]}]},
		{"packages": ["matplotlib.pyplot"], "children": null}]}`))
	want := []TreeNode{
		{Packages: []string{"numpy==1.26.4"}, Children: []TreeNode{{Packages: []string{"python-dateutil", "pytz"}}, {Packages: []string{"six"}}}},
		{Packages: []string{"matplotlib.pyplot"}},
	}
	if err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	list, err := ParseTree([]byte(`[{"packages": ["a"]}, {"packages": ["b"]}]`))
	if err != nil || len(list) != 2 {
		t.Errorf("a list: %v, %v", list, err)
	}
}

func TestParseTreeRefuses(t *testing.T) {
	deep := strings.Repeat(`{"packages": ["aX"], "children": [`, 40) + strings.Repeat("]}", 40)
	for i := range 40 {
		deep = strings.Replace(deep, "aX", "a"+strings.Repeat("b", i), 1)
	}
	for text, part := range map[string]string{
		`{"packages": ["a"], "children": [{"packages": ["b", "A==2"]}]}`: "below a > b: A==2 is below itself",
		`{"packages": ["a", "a"]}`:                                       "below a: a is below itself",
		`{"packages": ["a b=1"]}`:                                        "is not the name of a package",
		`{"packages": ["../x"]}`:                                         "is not the name of a package",
		`{"package": ["a"]}`:                                             `unknown field "package"`,
		`{"packages": "a"}`:                                              "cannot unmarshal",
		`{"packages": ["a"]} {}`:                                         "invalid character",
		`[{"packages": ["a"]}] x`:                                        "more text",
		`{"packages": ["a"], "children": [3`:                             "unexpected",
		`nonsense`:                                                       "invalid character",
		deep:                                                             "on top of each other",
		"[" + strings.Repeat(`{"packages": ["a"]},`, 1000) + `{"packages": ["a"]}]`: "more than 1000 nodes",
	} {
		if got, err := ParseTree([]byte(text)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%.80s: got %v, %v; want %s", text, got, err, part)
		}
	}
}

func TestWhichZygotesSuitALambda(t *testing.T) {
	nodes, err := ParseTree([]byte(`[{"packages": ["numpy"], "children": [{"packages": ["pandas"], "children": [{"packages": ["pyarrow"]}]}, {"packages": ["scipy==1"]}]}, {"packages": ["sklearn"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	numpy := Package{Name: "numpy==2.0", Dir: "/n", Modules: []string{"numpy", "_helper"}}
	learn := Package{Name: "scikit-learn==1.0", Dir: "/s", Modules: []string{"sklearn"}}
	scipy := Package{Name: "scipy==1", Dir: "/p", Modules: []string{"scipy"}}
	cases := []struct {
		name string
		spec Spec
		keys []string
	}{
		{"of the base", Spec{Imports: []string{"numpy", "numpy.linalg", "pandas"}}, []string{"/:numpy", "/:numpy/:pandas"}},
		{"a parent is missing", Spec{Imports: []string{"pandas"}}, nil},
		{"installed", Spec{Packages: []Package{numpy, scipy}}, []string{"/numpy==2.0:numpy", "/numpy==2.0:numpy/scipy==1:scipy"}},
		{"another version than the tree's", Spec{Packages: []Package{numpy, {Name: "scipy==1.1", Modules: []string{"scipy"}}}}, []string{"/numpy==2.0:numpy"}},
		{"module of a package with another name", Spec{Packages: []Package{learn}, Imports: []string{"sklearn"}}, []string{"/scikit-learn==1.0:sklearn"}},
	}
	for _, c := range cases {
		var keys []string
		for _, r := range recipes(nodes, &c.spec) {
			keys = append(keys, r.key)
		}
		if diff := cmp.Diff(c.keys, keys); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
	loaded := map[string]string{"numpy": "", "six": "six==1", "decimal": ""}
	for name, c := range map[string]struct {
		spec Spec
		want bool
	}{
		"nothing of its own":         {Spec{Imports: []string{"numpy"}}, true},
		"brings along a module":      {Spec{Own: []string{"decimal"}}, false},
		"needs another version":      {Spec{Packages: []Package{numpy}}, false},
		"needs the same":             {Spec{Packages: []Package{{Name: "six==1", Modules: []string{"six"}}}}, true},
		"needs another of that name": {Spec{Packages: []Package{{Name: "six==2", Modules: []string{"six"}}}}, false},
	} {
		if suits(loaded, &c.spec) != c.want {
			t.Errorf("%s: want %v", name, c.want)
		}
	}
}
