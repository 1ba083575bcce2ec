package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// existingTests are the names of all tests and fuzz targets of the module, and
// of transcripts.
func existingTests(t *testing.T, root string) map[string]bool {
	t.Helper()
	test := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
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
	rowsNameTests(t, "docs/compatibility.md", "", regexp.MustCompile("`(Test\\w+|[\\w-]+\\.txtar)`"), 50)
}

// So does every row on how security is tested; some are checked by a command,
// or by the tests of the row before.
func TestSecurityNamesTests(t *testing.T) {
	rowsNameTests(t, "docs/security.md", "## How it is tested", regexp.MustCompile("\\b((?:Test|Fuzz)\\w+)|`ol bench bars|the same tests"), 20)
}

// rowsNameTests checks the tables of a section, "" for all of a page.
func rowsNameTests(t *testing.T, page, section string, name *regexp.Regexp, least int) {
	const root = "../.."
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), section)
	if !ok {
		t.Fatalf("%s has no %s", page, section)
	}
	if section != "" {
		after, _, _ = strings.Cut(after, "\n## ")
	}
	exist := existingTests(t, root)
	rows := 0
	lines := strings.Split(after, "\n")
	for i, line := range lines {
		header := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---")
		if !strings.HasPrefix(line, "| ") || header {
			continue
		}
		rows++
		cells := strings.Split(strings.TrimSuffix(line, " |"), "|")
		names := name.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(names) == 0 {
			t.Errorf("%s: no test is named by %s", page, line)
		}
		for _, n := range names {
			if n[1] != "" && !exist[n[1]] {
				t.Errorf("%s: there is no %s: %s", page, n[1], line)
			}
		}
	}
	if rows < least {
		t.Errorf("only %d rows were found", rows)
	}
}
