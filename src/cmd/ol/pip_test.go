package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/worker/packages"
)

func TestPipIndex(t *testing.T) {
	home := t.TempDir()
	conf := filepath.Join(home, ".config/pip/pip.conf")
	if err := os.MkdirAll(filepath.Dir(conf), 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(home, "other.conf")
	for path, text := range map[string]string{conf: "of the user", other: "named"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PIP_INDEX_URL=http://i", "https_proxy=http://p", "PIP_TARGET=/etc", "SECRET=1", "HOME=" + home}
	want := packages.Index{Env: map[string]string{"PIP_INDEX_URL": "http://i", "https_proxy": "http://p"}, Conf: []byte("of the user")}
	if diff := cmp.Diff(want, pipIndex(env)); diff != "" {
		t.Error(diff)
	}
	want.Conf = []byte("named")
	if diff := cmp.Diff(want, pipIndex(append([]string{"PIP_CONFIG_FILE=" + other}, env...))); diff != "" {
		t.Error(diff)
	}
}

func TestInstallerNetwork(t *testing.T) {
	for _, c := range []struct{ lambdas, mirror, want string }{
		{"nat", "", "nat"},
		{"nat", "https://pypi.org/simple", "nat"},
		{"nat", "http://localhost:3141/simple", "host"},
		{"nat", "http://127.0.0.2:3141/simple", "host"},
		{"nat", "http://[::1]:3141/simple", "host"},
		{"nat", "http://192.0.2.1/simple", "nat"},
		{"host", "https://pypi.org/simple", "host"},
		{"none", "https://pypi.org/simple", "host"},
	} {
		if got := installerNetwork(c.lambdas, c.mirror); got != c.want {
			t.Errorf("%s, %q: got %s, want %s", c.lambdas, c.mirror, got, c.want)
		}
	}
}
