package packages

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/open-lambda/open-lambda/worker/sandbox"
)

func TestModulesOfAPackage(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{
		"numpy/__init__.py", "six.py", "_yaml/__init__.py", "fast.cpython-311-x86_64-linux-gnu.so", "numpy.libs/x.so",
		"bin/tool", "__pycache__/six.cpython-311.pyc", "README.txt", "a-b.py", "x.dist-info/METADATA",
	} {
		full := filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte("Name: X_y\nVersion: 1.0RC1\nRequires-Dist: a (>=1)\nRequires-Dist: b; extra == 'c'\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := inspect(dir)
	if err != nil || m.Name != "x-y" || m.Version != "1.0rc1" || !slices.Equal(m.Requires, []string{"a (>=1)"}) {
		t.Errorf("got %+v, %v", m, err)
	}
	if want := []string{"_yaml", "fast", "numpy", "six"}; !slices.Equal(m.Modules, want) {
		t.Errorf("modules %v, want %v", m.Modules, want)
	}
}

func TestWhoseFaultItIs(t *testing.T) {
	exit := func(code int) error { return &sandbox.JobError{Reason: "exit code 1", Code: code} }
	cases := []struct {
		err    error
		output string
		word   string
		soon   bool // another try may succeed
	}{
		{exit(noPip), "", WordNoPip, false},
		{exit(1), "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError'\nERROR: No matching distribution found for a", WordIndex, true},
		{exit(1), "ERROR: Could not find a version that satisfies the requirement a (from versions: none)\nERROR: No matching distribution found for a", WordMissing, false},
		{exit(1), "ERROR: something else", WordFailed, false},
		{&sandbox.JobError{Reason: "out of memory"}, "", WordLimit, false},
		{&sandbox.JobError{Reason: "signal: segmentation fault"}, "", WordFailed, false},
		{errLate, "", WordLimit, false},
		{errors.New("no space left on device"), "", WordHost, true},
	}
	for _, c := range cases {
		if e := explain("a", c.err, c.output); e.Word != c.word || e.Temporary != c.soon || e.Reason == "" {
			t.Errorf("%v, %q: got %+v", c.err, c.output, e)
		}
	}
}
