package sock

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ownBase makes a root directory with nothing but the host's Python.
func ownBase(t *testing.T) string {
	t.Helper()
	needRoot(t)
	base := t.TempDir()
	python, err := filepath.EvalSymlinks("/usr/bin/python3")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{python, strings.TrimSpace(string(out))}
	paths = append(paths, libraries(t, python)...)
	for _, pattern := range []string{"/usr/lib/*/libffi.so*", "/usr/lib/*/libssl.so*", "/usr/lib/*/libcrypto.so*", "/usr/lib/*/libexpat.so*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	args := append([]string{"-rL", "--parents"}, paths...)
	if out, err := exec.Command("cp", append(args, base)...).CombinedOutput(); err != nil {
		t.Skipf("NOT RUN: cannot copy python: %v\n%s", err, out)
	}
	link(t, filepath.Base(python), filepath.Join(base, "usr/bin/python3"))
	if err := os.Mkdir(filepath.Join(base, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "etc/mark"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	return base
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if _, err := os.Lstat(path); err == nil {
		return
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// libraries lists what the program is linked with.
func libraries(t *testing.T, program string) []string {
	t.Helper()
	out, err := exec.Command("ldd", program).Output()
	if err != nil {
		t.Skipf("NOT RUN: cannot list libraries: %v", err)
	}
	var paths []string
	for _, field := range strings.Fields(string(out)) {
		if strings.HasPrefix(field, "/") {
			paths = append(paths, field)
		}
	}
	return paths
}

func TestBaseDirectory(t *testing.T) {
	cfg := settings(t)
	cfg.Base = ownBase(t)
	p := newProvider(t, cfg)
	warm(t, p)
	s := create(t, p, code(t, "based", "import os\ndef f(event):\n    return [open('/etc/mark').read(), os.path.exists('/usr/bin/ls'), os.path.exists('/etc/passwd')]\n"))
	if _, answer := call(t, s, "{}"); strings.ReplaceAll(answer, " ", "") != `["mine",false,false]` {
		t.Errorf("answer is %s", answer)
	}
}

func TestUnusableBase(t *testing.T) {
	cfg := settings(t)
	for _, base := range []string{t.TempDir(), "/nonexistent"} {
		cfg.Base = base
		p, err := New(cfg)
		if err == nil {
			t.Errorf("base %s is accepted", base)
			_ = p.Close(context.Background())
		} else {
			t.Log(err)
		}
		if after := count(t, cfg.Instance, cfg.Dir); after.Cgroups != 0 || after.Processes != 0 {
			t.Errorf("a failed start leaves %+v", after)
		}
	}
}

func TestBarePython(t *testing.T) {
	p := newProvider(t, settings(t))
	took, err := p.BarePython(context.Background())
	if err != nil || took <= 0 {
		t.Errorf("took %v, %v", took, err)
	}
}

func TestValidate(t *testing.T) {
	good := DefaultConfig("x", "/x", os.DirFS("/"))
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	if got, want := good.ReserveMB(), good.ZygoteMB+8*good.ParkedMB; got != want {
		t.Errorf("reserve is %d, want %d", got, want)
	}
	bad := map[string]func(*Config){
		"name":    func(c *Config) { c.Instance = "A/b" },
		"dir":     func(c *Config) { c.Dir = "x" },
		"base":    func(c *Config) { c.Base = "docker" },
		"network": func(c *Config) { c.Network = "bridge" },
		"tmp":     func(c *Config) { c.TmpMB = 0 },
		"pool":    func(c *Config) { c.Zygote = false },
		"less":    func(c *Config) { c.Pool = -1 },
		"zygote":  func(c *Config) { c.ZygoteMB = 1 },
		"runtime": func(c *Config) { c.Runtime = nil },
	}
	for name, spoil := range bad {
		c := good
		spoil(&c)
		if err := c.Validate(); err == nil {
			t.Errorf("%s: %+v is accepted", name, c)
		}
	}
}

func TestIdleSandboxIsSmall(t *testing.T) {
	p := newProvider(t, settings(t))
	warm(t, p)
	s := create(t, p, code(t, "idle", echo))
	call(t, s, "{}")
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", s.body.(body).proc.pid))
	if err != nil {
		t.Skip("NOT RUN: the kernel does not tell proportional memory")
	}
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "Pss:") {
			t.Log(strings.TrimSpace(line), "charged", s.Info().MemBytes>>10, "kB")
		}
	}
}
