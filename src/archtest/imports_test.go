package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/open-lambda/open-lambda/"

// importRules are checked against all that a package depends on, directly or
// not, tests excluded. Prefixes are path prefixes.
func importRules() []importRule {
	return []importRule{
		{"policies", ours("worker", "boss", "sock", "src"), "decisions are pure: the worker and the simulator share them"},
		{"policies/engine", ours("policies/catalog"), "the engine knows policies by their interfaces only"},
		{"policies/stats", ours("policies/engine", "policies/catalog"), "statistics know nothing of scheduling"},
		{"sock", ours("worker", "boss", "policies", "src"), "sock is mechanism"},
		{"sock/cgroup", ours("min-image"), "the cgroup driver stands alone"},
		{"sock/runc", []string{module + "sock/runc/oci", "github.com/opencontainers"}, "libcontainer lives in a program of its own"},
		{"src/cmd/ol", []string{module + "sock/runc/oci", "github.com/opencontainers"}, "the worker is pure Go; libcontainer needs cgo"},
		{"sock/ids", ours("min-image", "sock/cgroup"), "the allocator of user ids stands alone"},
		{"sock/ahead", ours("min-image", "sock/cgroup", "sock/ids", "sock/nat"), "a stock does not know of what it is"},
		{"sock/nat", ours("min-image", "sock/cgroup", "sock/ids"), "networks stand alone"},
		{"worker/sockmode", ours("worker/server", "worker/dispatch", "policies/engine"), "bare sandboxes are made by whoever asks: nothing is scheduled"},
		{"worker/invoke", ours("worker/server", "worker/dispatch"), "calls know requests, not who serves them"},
		{"worker", ours("boss", "sock", "src/cmd"), "the worker meets sock only in src/cmd/ol"},
		{"boss", ours("worker", "sock", "src/cmd"), "the boss speaks HTTP to workers"},
		{"src/config", ours("worker", "boss", "sock", "src/cmd"), "shared packages lie below those who share them"},
		{"src/lambda", ours("worker", "boss", "sock", "src/cmd"), "shared packages lie below those who share them"},
		{"src/api", ours("worker", "boss", "sock", "src/cmd"), "shared packages lie below those who share them"},
		{"src/metrics", ours("worker", "boss", "sock", "src/cmd"), "shared packages lie below those who share them"},
		{"src/inprocess", ours("worker", "boss", "sock", "src/cmd", "src/lambda", "src/config"), "calling a handler needs nothing but names"},
		{"src/pause", ours("worker", "boss", "sock", "src", "policies"), "waiting needs nothing of ours"},
		{"src/trace", append(ours("worker", "boss", "sock"), "net/http", "os/exec"), "a workload is data"},
		{"src/replay", ours("worker", "boss", "sock", "src/cmd"), "the replayer speaks HTTP to whoever serves"},
		{"src/soak", ours("worker", "boss", "sock", "src/cmd", "policies"), "who wears a worker out knows what clients know"},
		{"src/wire", ours("worker", "boss", "sock", "src", "policies"), "a wire knows nobody"},
		{"src/sim", append(ours("worker", "boss", "sock"), "net/http", "os/exec"), "the simulator has no outside"},
		{"src/sim/fit", ours("src/repro"), "a fit is told its targets"},
		{"src/repro", ours("worker", "boss", "sock", "src/cmd"), "figures are drawn from simulations and replays"},
		{"src/repro/plot", ours("worker", "boss", "sock", "policies", "src/sim", "src/trace", "src/cmd"), "a chart is numbers and names"},
	}
}

type importRule struct {
	from   string
	deny   []string
	reason string
}

func ours(paths ...string) []string {
	full := make([]string, len(paths))
	for i, p := range paths {
		full[i] = module + p
	}
	return full
}

// impure are direct imports that nothing below policies may have.
func impure() []string {
	return []string{
		"os", "net", "context", "sync", "log", "io/fs", "math/rand", "crypto/rand",
		"runtime", "syscall", "unsafe", "testing", "golang.org/x/sys",
	}
}

type listed struct {
	ImportPath, Name, Dir  string
	Imports, Deps, GoFiles []string
}

// packages lists the module's own packages as the go command sees them.
func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Name,Dir,Imports,Deps,GoFiles", module+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	var all []listed
	for {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("decode package: %v", err)
		}
		all = append(all, p)
	}
	if len(all) < 5 {
		t.Fatalf("only %d packages found", len(all))
	}
	return all
}

func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

func withinAny(path string, prefixes []string) bool {
	for _, p := range prefixes {
		if within(path, p) {
			return true
		}
	}
	return false
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		rel := strings.TrimPrefix(p.ImportPath, module)
		for _, rule := range importRules() {
			if !within(rel, rule.from) || rel == "sock/runc/oci" && rule.from == "sock/runc" {
				continue
			}
			for _, dep := range p.Deps {
				if withinAny(dep, rule.deny) {
					t.Errorf("%s depends on %s: %s", rel, dep, rule.reason)
				}
			}
		}
	}
}

func TestPoliciesImportNothingImpure(t *testing.T) {
	for _, p := range packages(t) {
		// enginetest is for tests only, as its name says.
		if !within(p.ImportPath, module+"policies") || strings.HasSuffix(p.Name, "test") {
			continue
		}
		for _, imp := range p.Imports {
			// math/rand/v2 takes a source from outside and is no part of math/rand here.
			if withinAny(imp, impure()) && imp != "math/rand/v2" {
				t.Errorf("%s imports %s: policies do no I/O, hold no lock, read no clock", p.ImportPath, imp)
			}
		}
	}
}

// A policy is chosen by the catalog: the engine knows none of them.
func TestEngineKnowsNoPolicy(t *testing.T) {
	shared := []string{"policies", "policies/stats", "policies/engine", "policies/catalog", "policies/placement", "policies/heap"}
	isPolicy := func(path string) bool {
		rel := strings.TrimPrefix(path, module)
		for _, s := range shared {
			if rel == s {
				return false
			}
		}
		return within(rel, "policies")
	}
	for _, p := range packages(t) {
		if p.ImportPath != module+"policies/engine" {
			continue
		}
		for _, dep := range p.Deps {
			if isPolicy(dep) {
				t.Errorf("policies/engine depends on %s: it must know interfaces only", dep)
			}
		}
	}
}
