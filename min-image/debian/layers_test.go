package debian

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLayersBuildOnEachOther(t *testing.T) {
	before := 0
	for i, name := range LayerNames() {
		layers, err := upTo(name)
		if err != nil || len(layers) != i+1 || layers[i].Name != name {
			t.Fatalf("%s: %v, %v", name, layers, err)
		}
		roots := rootsOf(layers)
		if len(roots) <= before || !slices.Contains(roots, "python3") || !strings.HasPrefix(probeOf(layers), "import ctypes, ") {
			t.Errorf("%s: packages %v, probe %q", name, roots, probeOf(layers))
		}
		before = len(roots)
	}
	if _, err := upTo("gpu"); err == nil || !strings.Contains(err.Error(), "min, web, sci, cv") {
		t.Errorf("unknown layer: %v", err)
	}
}

func TestLinkAlternatives(t *testing.T) {
	root := tree(t, "usr/lib/x86_64-linux-gnu/blas/libblas.so.3", "usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3",
		"usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3")
	for range 2 { // what is linked stays
		if err := linkAlternatives(root); err != nil {
			t.Fatal(err)
		}
	}
	for library, want := range map[string]string{"libblas.so.3": "blas/libblas.so.3", "liblapack.so.3": "lapack/liblapack.so.3"} {
		if got, err := os.Readlink(filepath.Join(root, "usr/lib/x86_64-linux-gnu", library)); err != nil || got != want {
			t.Errorf("%s leads to %q, %v", library, got, err)
		}
	}
	if err := linkAlternatives(t.TempDir()); err != nil {
		t.Error(err)
	}
}

// An extension module that lacks a library is found out, even one that this
// machine has.
func TestCheckLinkage(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("SKIPPED: no C compiler to make an extension module with")
	}
	root := tree(t, "usr/lib/python3/dist-packages/plain.py")
	libraries := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
	if err := os.MkdirAll(libraries, 0o755); err != nil {
		t.Fatal(err)
	}
	build := func(out string, args ...string) {
		t.Helper()
		args = append([]string{"-shared", "-nostdlib", "-x", "c", os.DevNull, "-o", out}, args...)
		if text, err := exec.CommandContext(t.Context(), cc, args...).CombinedOutput(); err != nil {
			t.Skipf("SKIPPED: cannot make a library: %v\n%s", err, text)
		}
	}
	deep, near := filepath.Join(libraries, "libdeep.so"), filepath.Join(libraries, "libnear.so")
	build(deep)
	build(near, "-Wl,--no-as-needed", "-Wl,-soname,libnear.so", "-L"+libraries, "-ldeep")
	build(filepath.Join(root, "usr/lib/python3/dist-packages/fast.so"), "-Wl,--no-as-needed", "-L"+libraries, "-lnear")
	if err := checkLinkage(root); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(deep); err != nil {
		t.Fatal(err)
	}
	if err := checkLinkage(root); err == nil || !strings.Contains(err.Error(), "libnear.so needs") {
		t.Errorf("a library is missing: %v", err)
	}
}
