package minimage

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const registry = "../test-registry/"

// Every lambda of the test registry, in the plain runtime: without a sandbox
// there are no limits, so those of fbomb and max_mem_alloc are given by event.
func TestRegistryLambdas(t *testing.T) {
	for _, test := range []struct{ lambda, event, want string }{
		{"echo", `{"a": [1, 2]}`, `{"a": [1, 2]}`},
		{"hello", "", `"hello"`},
		{"hello2", "", `"hello"`},
		{"version", "", "[3, "},
		{"timeout", "0.01", "0.01"},
		{"fbomb", `{"times": 3}`, "4"},
		{"max_mem_alloc", `{"limit_mb": 5}`, "5"},
		{"syslog", "", "0"},
		{"env-test", "", "{}"},
		{"sleep", `{"ms": 1}`, "1"},
		{"spin", `{"ms": 1}`, ""},
		{"init", `{"ms": 1}`, `{"ms": 1, "init_ms": `},
		{"prints", `{"lines": 2}`, "2"},
		{"exits", `{"code": 4}`, "handler called sys.exit(4)\n"},
		{"stream", `{"lines": 2}`, "line 0\nline 1\n"},
		{"big", `{"bytes": 3}`, "xxx"},
		{"hash", `{"text": "a"}`, `"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"`},
	} {
		t.Run(test.lambda, func(t *testing.T) {
			p := startDir(t, registry+test.lambda, nil)
			for range 2 {
				if _, text := p.post(test.event); !strings.HasPrefix(text, test.want) {
					t.Fatalf("answers %q, want %q", text, test.want)
				}
			}
		})
	}
}

func TestRegistryLambdasThatDie(t *testing.T) {
	for lambda, event := range map[string]string{"crash": "{}", "exits": `{"hard": true}`} {
		p := startDir(t, registry+lambda, nil)
		if resp, err := p.client.Do(request(t, "POST", "/", strings.NewReader(event))); err == nil {
			resp.Body.Close()
			t.Errorf("%s answers %s", lambda, resp.Status)
		}
		<-p.ended
	}
}

// Initialisations that vary do so around the median that they are told.
func TestInitIsSpread(t *testing.T) {
	const script = `
import math, sys
sys.path.insert(0, sys.argv[1])
import f
logs = sorted(math.log(f.drawn(0.341)) for _ in range(20001))
mean = sum(logs) / len(logs)
print(logs[10000], math.sqrt(sum((x - mean) ** 2 for x in logs) / len(logs)), f.drawn(0))
`
	cmd := exec.CommandContext(t.Context(), python(t), "-c", script, registry+"init")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var median, sigma, none float64
	if _, err := fmt.Sscan(string(out), &median, &sigma, &none); err != nil {
		t.Fatalf("read %s: %v", out, err)
	}
	if math.Abs(median) > 0.03 || math.Abs(sigma-0.341) > 0.02 || none != 1 {
		t.Errorf("median e^%v, sigma %v, without one %v", median, sigma, none)
	}
}

func TestInitCostsWhatItIsTold(t *testing.T) {
	env := map[string]string{"OL_INIT_MS": "80", "OL_INIT_IMPORTS": "decimal, email.message", "OL_HOLD_MB": "3"}
	p := startDir(t, registry+"init", map[string]any{"env": env})
	_, text := p.post("")
	var ms int
	var init, imports float64
	var hold int
	format := `{"ms": %d, "init_ms": %f, "import_ms": %f, "hold_mb": %d}`
	if _, err := fmt.Sscanf(text, format, &ms, &init, &imports, &hold); err != nil && err != io.EOF {
		t.Fatalf("read %s: %v", text, err)
	}
	if init < 80 || imports <= 0 || hold != 3 {
		t.Errorf("initialisation: %s", text)
	}
}
