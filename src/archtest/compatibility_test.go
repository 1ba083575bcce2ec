package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// existingTests are the names of all tests of the module, and of transcripts.
func existingTests(t *testing.T, root string) map[string]bool {
	t.Helper()
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(path, ".txtar") {
			found[d.Name()] = true
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range test.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Every row of the page on compatibility names tests, and they exist.
func TestCompatibilityNamesTests(t *testing.T) {
	const root = "../.."
	text, err := os.ReadFile(filepath.Join(root, "docs/compatibility.md"))
	if err != nil {
		t.Fatal(err)
	}
	exist := existingTests(t, root)
	name := regexp.MustCompile("`(Test\\w+|[\\w-]+\\.txtar)`")
	rows := 0
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		header := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---")
		if !strings.HasPrefix(line, "| ") || header {
			continue
		}
		rows++
		cells := strings.Split(strings.TrimSuffix(line, " |"), "|")
		names := name.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(names) == 0 {
			t.Errorf("line %d names no test: %s", i+1, line)
		}
		for _, n := range names {
			if !exist[n[1]] {
				t.Errorf("line %d: there is no %s", i+1, n[1])
			}
		}
	}
	if rows < 50 {
		t.Errorf("only %d rows were found", rows)
	}
}
