package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/open-lambda/open-lambda/worker/packages"
	"github.com/open-lambda/open-lambda/worker/packages/indextest"
)

// user is a lambda that says which versions it sees.
const user = `import sys
def f(event):
    import alpha
    return [alpha.version, alpha.__file__, [p for p in sys.path if p.startswith("/packages")]]
`

func TestPackageIsInstalledOnce(t *testing.T) {
	x := indextest.Serve(t,
		indextest.Module("alpha", "1.0", "version = 'one'"), indextest.Module("alpha", "2.0", "version = 'two'"),
		indextest.Module("be-ta", "1.0", ""))
	n := startLive(t, t.TempDir(), "pip_mirror="+x.URL)
	n.put("a", "f.py", user, "requirements.txt", "Be_ta == 1.0  # second\nalpha==1.0\n")
	n.put("b", "f.py", user, "requirements.txt", "alpha==1.0")
	n.put("c", "f.py", "# ol-install: alpha\n"+user)
	var callers sync.WaitGroup
	for _, name := range []string{"a", "b", "a", "b"} {
		callers.Go(func() { n.expect(name, 200, `"one", "/packages/alpha==1.0/alpha.py"`) })
	}
	callers.Wait()
	n.expect("a", 200, `["/packages/be-ta==1.0", "/packages/alpha==1.0"]`)
	if x.Fetched("alpha") != 1 || x.Fetched("be-ta") != 1 || n.pulled() != 2 {
		t.Errorf("fetched alpha %d times, be-ta %d, counted %v", x.Fetched("alpha"), x.Fetched("be-ta"), n.pulled())
	}
	n.expect("c", 200, `"two"`)
	x.Add(indextest.Module("alpha", "3.0", "version = 'three'"))
	n.put("d", "f.py", "# ol-install: alpha\n"+user)
	n.expect("d", 200, `"two"`)
	n.end()
	again := startLive(t, n.dir, "pip_mirror=http://localhost:1/simple")
	again.expect("a", 200, `"one"`)
	again.expect("c", 200, `"two"`)
	if want := []string{"alpha==1.0", "alpha==2.0", "be-ta==1.0"}; !slices.Equal(again.installed(), want) || again.pulled() != 0 {
		t.Errorf("installed %v, counted %v", again.installed(), again.pulled())
	}
}

func TestPackageWithNativeCode(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("NOT RUN: there is no C compiler")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "add.c"), []byte("int add(int a, int b) { return a + b; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(dir, "add.so")
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", library, filepath.Join(dir, "add.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	code, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	arch, err := exec.Command("uname", "-m").Output()
	if err != nil {
		t.Fatal(err)
	}
	x := indextest.Serve(t, indextest.Wheel{
		Name: "native", Version: "0.1", Platform: "linux_" + strings.TrimSpace(string(arch)),
		Files: map[string]string{
			"native/__init__.py": "import ctypes, os\nadd = ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'add.so')).add\n",
			"native/add.so":      string(code),
		},
	})
	n := startLive(t, t.TempDir(), "pip_mirror="+x.URL)
	n.put("sum", "f.py", "import native\ndef f(event):\n    return native.add(40, 2)\n", "requirements.txt", "native==0.1")
	n.expect("sum", 200, "42")
}

func TestPackageFailures(t *testing.T) {
	x := indextest.Serve(t,
		indextest.Module("alpha", "1.0", "version = 'one'"),
		indextest.Wheel{Name: "broken", Version: "1.0", Broken: true},
		indextest.Module("old", "1.0", "", "alpha (<1.0)"), indextest.Module("fine", "1.0", "", "alpha>=1", "other"))
	n := startLive(t, t.TempDir(), "pip_mirror="+x.URL)
	cases := []struct {
		name, requires, word, detail, output string
	}{
		{"version", "alpha==7.7", packages.WordMissing, "it has 1.0", "ERROR: No matching"},
		{"name", "nothing-like-it==1", packages.WordMissing, "no such package", "ERROR: No matching"},
		{"wheel", "broken==1.0", packages.WordFailed, "broken", "ERROR"},
		{"conflict", "alpha==1.0\nold==1.0", packages.WordConflict, "old==1.0 needs alpha<1.0, but the lambda has alpha 1.0", ""},
		{"pins", "alpha==1.0\nalpha==2.0", "broken-lambda", "alpha==1.0 and alpha==2.0 cannot both be", ""},
		{"option", "--index-url http://example.com", "broken-lambda", "is an option of pip", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n.put(c.name, "f.py", user, "requirements.txt", c.requires)
			p := n.problem(c.name)
			if p.Status != 500 || p.Reason != c.word || !strings.Contains(p.Detail, c.detail) || !strings.Contains(p.Output, c.output) {
				t.Errorf("got %+v", p)
			}
		})
	}
	n.put("fine", "f.py", user, "requirements.txt", "alpha==1.0\nfine==1.0")
	n.expect("fine", 200, "one")
	if want := []string{"alpha==1.0", "fine==1.0", "old==1.0"}; !slices.Equal(n.installed(), want) {
		t.Errorf("installed %v", n.installed())
	}
}

func TestPackageIndexOutOfReach(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	n := startLive(t, t.TempDir(), fmt.Sprintf("pip_mirror=http://%s/simple", address))
	n.put("a", "f.py", user, "requirements.txt", "alpha==1.0")
	if p := n.problem("a"); p.Status != 503 || p.Reason != packages.WordIndex || !strings.Contains(p.Detail, "pip_mirror") {
		t.Errorf("got %+v", p)
	}
	if left := n.installed(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestInstallerLimits(t *testing.T) {
	x := indextest.Serve(t, indextest.Module("alpha", "1.0", ""),
		indextest.Module("large", "1.0", "x = '"+strings.Repeat("0123456789", 300_000)+"'\n"))
	n := startLive(t, t.TempDir(), "pkgs_max_mb=1,pip_mirror="+x.URL)
	n.put("large", "f.py", user, "requirements.txt", "large==1.0")
	if p := n.problem("large"); p.Status != 500 || p.Reason != packages.WordLimit || !strings.Contains(p.Detail, "pkgs_max_mb") {
		t.Errorf("got %+v", p)
	}
	n.end()
	n = startLive(t, n.dir, "installer_limits.mem_mb=16,pip_mirror="+x.URL)
	n.put("alpha", "f.py", user, "requirements.txt", "alpha==1.0")
	if p := n.problem("alpha"); p.Status != 500 || p.Reason != packages.WordLimit || !strings.Contains(p.Detail, "installer_limits.mem_mb") {
		t.Errorf("got %+v", p)
	}
}

// The lambdas of OpenLambda's own test of packages, with the count that it reads.
func TestInstallCounts(t *testing.T) {
	var wheels []indextest.Wheel
	for name, version := range map[string]string{
		"parso": "0.8.4", "jedi": "0.19.1", "urllib3": "2.2.2", "idna": "3.7", "chardet": "5.2.0", "certifi": "2024.7.4",
	} {
		wheels = append(wheels, indextest.Module(name, version, ""))
	}
	x := indextest.Serve(t, wheels...)
	n := startLive(t, t.TempDir(), "pip_mirror="+x.URL)
	for i, step := range []struct {
		found string
		count float64
	}{{`["chardet", "idna", "jedi", "parso", "urllib3"]`, 5}, {`["idna", "parso"]`, 5}, {`["certifi", "idna"]`, 6}} {
		name := fmt.Sprintf("install%d", i+1)
		source, err := unpackLambda(n.dir, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(source, filepath.Join(n.dir, "registry", name)); err != nil {
			t.Fatal(err)
		}
		n.expect(name, 200, step.found)
		if got := n.pulled(); got != step.count {
			t.Errorf("after %s pull-package.cnt is %v, want %v", name, got, step.count)
		}
	}
}
