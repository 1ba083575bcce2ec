package lambda

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseRequirements(t *testing.T) {
	text := "# all of it\nNumPy == 1.26.4\n\n  Ruamel_YAML==0.18 # why\nrequests>=2,<3\nuvicorn[standard]==0.3\nsix\nsix\n"
	got, err := ParseRequirements([]byte(text))
	want := []Requirement{
		{"numpy", "1.26.4", "numpy==1.26.4"},
		{"ruamel-yaml", "0.18", "ruamel-yaml==0.18"},
		{"requests", "", "requests>=2,<3"},
		{"uvicorn", "0.3", "uvicorn==0.3"},
		{"six", "", "six"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestParseRequirementsRefuses(t *testing.T) {
	for text, part := range map[string]string{
		"-r other.txt":                      "option of pip",
		"--index-url http://x":              "option of pip",
		"a==1; python_version < '3'":        "condition",
		"a @ https://example.com/a.whl":     "place",
		"./a":                               "place",
		"a==":                               "not a package",
		"a==1,":                             "not a package",
		"a b c==1 $":                        "not a package",
		"a==1\nA==2":                        "cannot both be",
		"..==1":                             "not a package",
		"a=1":                               "not a package",
		strings.Repeat("a", 10) + "=\x00=1": "not a package",
	} {
		if got, err := ParseRequirements([]byte(text)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
}

// Files that are within their bounds and name as much as fits: what is done with
// each name must not grow with the number of names.
func TestHostsOfNames(t *testing.T) {
	var packages, imports strings.Builder
	for i := 0; packages.Len() < maxSourceBytes-10; i++ {
		fmt.Fprintf(&packages, "p%d\n", i)
	}
	imports.WriteString("import a")
	for i := 0; imports.Len() < maxSourceBytes-10; i++ {
		fmt.Fprintf(&imports, ",p%d", i)
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "f.py"), imports.String())
	c, _, err := ReadDir(dir)
	if err != nil || len(c.Imports) != maxImports {
		t.Errorf("%d imports, %v", len(c.Imports), err)
	}
	if all, err := ParseRequirements([]byte(packages.String())); err == nil || len(all) > MaxRequirements || !strings.Contains(err.Error(), "more than 240 packages") {
		t.Errorf("%d packages, %v", len(all), err)
	}
}

func TestPackagesOfALambda(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "f.py"), `# ol-install: Parso,six==1
#ol-import: parso
import json, numpy as np
from a.b.c import (d)
from . import x
import helper.deep
if True:
    import late  # here
`)
	put(t, filepath.Join(dir, RequirementsFile), "flask==1.0\nsix==1")
	put(t, filepath.Join(dir, "helper.py"), "")
	c, warnings, err := ReadDir(dir)
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	var specs []string
	for _, r := range c.Requires {
		specs = append(specs, r.String())
	}
	if want := []string{"flask==1.0", "six==1", "parso"}; !slices.Equal(specs, want) {
		t.Errorf("requires %v, want %v", specs, want)
	}
	if want := []string{"parso", "json", "numpy", "a", "a.b", "a.b.c", "late"}; !slices.Equal(c.Imports, want) {
		t.Errorf("imports %v, want %v", c.Imports, want)
	}
	put(t, filepath.Join(dir, RequirementsFile), "six==2")
	var format *FormatError
	if _, _, err := ReadDir(dir); !errors.As(err, &format) {
		t.Errorf("contradiction: %v", err)
	}
}
