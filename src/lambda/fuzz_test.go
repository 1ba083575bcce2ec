package lambda

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/config"
)

// Whatever ol.yaml says, a worker can act on it, and bosses keep it unchanged
// in JSON.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"triggers: {http: [{method: GET}]}\nenvironment: {a: b}", "a: &a [*a]", "", "- a", "limits: {mem_mb: 64, runtime_sec: 9223372036, procs: 3}",
		"limits: {mem_mb: 0x40, cpu_percent: 1_0}", "triggers: {http: []}\nmin_sandboxes: 1\nmax_sandboxes: 2", "calls: [a, ../b]", "handler: a.b:c\nnetwork: nat",
		"triggers: {cron: [{schedule: '@every 1s'}], kafka: [{topics: [t], bootstrap_servers: [b]}]}", "async: {attempts: 3, base_ms: 1, cap_ms: 2}",
		"environment: {OL_ENTRY_FILE: a/../../b}", "environment: {? a=b : c}", "reuse-sandbox: false\nconcurrency: 1", "environment: {a: \"\\0\"}", "\xff\xfe", "%YAML 1.2\n---\na: !!binary aGk=",
	} {
		f.Add([]byte(seed))
	}
	w := config.New("/d", 4000)
	f.Fuzz(func(t *testing.T, text []byte) {
		c, _, err := Parse(text)
		if err != nil {
			return
		}
		e := c.Effective(&w)
		if e.Runtime <= 0 || e.Slots < 1 || e.Min < 0 || e.Max < 0 || e.MemMB < 1 || int64(e.MemMB)<<20>>20 != int64(e.MemMB) || e.CPUPercent < 1 || e.Procs < 1 {
			t.Errorf("in effect is %+v", e)
		}
		if !filepath.IsLocal(c.Entry()) || !slices.Contains([]string{"", "none", "nat", "host"}, c.Network) {
			t.Errorf("accepted %+v", c)
		}
		for name, value := range c.Environment {
			if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
				t.Errorf("variable %q=%q", name, value)
			}
		}
		for _, name := range c.Calls {
			if !ValidName(name) {
				t.Errorf("may call %q", name)
			}
		}
		kept, again := stored(t, c)
		if kept != again {
			t.Errorf("%s is kept as %s", kept, again)
		}
	})
}

// stored is a configuration as a boss keeps it, and what becomes of that when
// it is read and kept again.
func stored(t *testing.T, c Config) (first, second string) {
	t.Helper()
	text, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	var read Config
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&read)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), string(again)
}

// Whatever a schedule says, it is a function of time that moves forward, by
// whole seconds.
func FuzzSchedule(f *testing.F) {
	for _, seed := range []string{
		"* * * * *", "*/10 * * * * *", "@hourly", "@every 90s", "@every 1ns", "@every 0s", "@every -1h", "@every 1h0m0.5s", "0 0 30 2 *", "CRON_TZ=Europe/Berlin 30 2 * * *",
		"TZ=../../etc/passwd * * * * *", "0 0 15 * MON", "0-59/7 */5 1,15 JAN-DEC ?", "@every 9999999h", "59 23 31 12 7", "L * * * *", "H * * * *", "@reboot", "1 2 3 4 5 6 7", "5-1 * * * *",
	} {
		f.Add(seed, int64(1_790_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		s, err := ParseSchedule(text)
		if err != nil {
			return
		}
		at := time.Unix(unix%7_000_000_000, 0).UTC() // years 1748 to 2191
		for range 3 {
			next := s.Next(at)
			if next.IsZero() {
				return
			}
			if next.Sub(at) < time.Second && next.Sub(at) != next.Truncate(time.Second).Sub(at) || !next.After(at) || next.Location() != time.UTC {
				t.Fatalf("%q is due at %v after %v", text, next, at)
			}
			if before := s.Next(at); !before.Equal(next) {
				t.Fatalf("%q after %v: %v, and then %v", text, at, next, before)
			}
			at = next
		}
	})
}

// moduleName is what may be said to import.
var moduleName = regexp.MustCompile(`^\w[\w.]*$`)

// Whatever a program says, what is found in it are names of modules, and single
// words of comments.
func FuzzSource(f *testing.F) {
	for _, seed := range []string{
		"import os, sys as s\nfrom a.b import c\n", "from . import x\nfrom .y import z\nimport .q\n", "# ol-import: numpy, pandas\n#ol-install: requests\n", "import a..b\nimport \x00\n",
		"\tfrom  a.b.c  import (d,\n", "import a,\n", "# ol-import: a b\r\n# ol-import: ,,\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		for _, name := range importedModules(source) {
			if !moduleName.MatchString(name) {
				t.Errorf("imports %q", name)
			}
		}
		for _, kind := range []string{installComment, importComment} {
			for _, name := range comments(source, kind) {
				if name == "" || strings.ContainsAny(name, ",\n") || strings.TrimSpace(name) != name {
					t.Errorf("%s %q", kind, name)
				}
			}
		}
	})
}

// Whatever requirements.txt says, what comes out of it is read again as the
// same, and no name leads out of the packages' directory.
func FuzzRequirements(f *testing.F) {
	for _, seed := range []string{"requests==2.31.0\n", "Flask_Login # x\n", "a==1; python_version<'3'\n", "-r other.txt", "a[b]==1", "../x==1", "a==1\na==2", "\x00", "é==1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := ParseRequirements(text)
		if err != nil {
			return
		}
		for _, r := range all {
			again, err := ParseRequirement(r.String())
			if err != nil || again.String() != r.String() {
				t.Errorf("%q becomes %q, %v", r, again, err)
			}
			if name := PackageName(r.String()); strings.ContainsAny(r.String(), "/\n\x00") || strings.Contains(name, "..") {
				t.Errorf("%q has the name %q", r, name)
			}
		}
	})
}

// A name that is allowed is one path element, and needs no escaping anywhere.
func FuzzName(f *testing.F) {
	for _, seed := range []string{"echo", "a.b-c_d", ".", "..", "a/b", "", "a\x00", "é", strings.Repeat("x", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if (CheckName(name) == nil) != ValidName(name) {
			t.Error("both disagree")
		}
		if !ValidName(name) {
			return
		}
		if name == "" || name == "." || name == ".." || len(name) > 255 || strings.ContainsAny(name, "/\\%?#\x00 \n") {
			t.Errorf("%q is allowed", name)
		}
	})
}
