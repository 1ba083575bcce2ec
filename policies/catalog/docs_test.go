package catalog_test

import (
	"os"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/policies/catalog"
)

// The page is written by hand; that it lacks nothing is checked here.
func TestDocumentationIsComplete(t *testing.T) {
	raw, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for _, e := range catalog.Entries() {
		if !strings.Contains(page, "`"+e.Name+"`") && !strings.Contains(page, "**"+e.Name+"**") {
			t.Errorf("docs/policies.md does not name the %s %s", e.Kind, e.Name)
		}
		for _, p := range e.Params {
			if !strings.Contains(page, "`"+p.Name+"`") {
				t.Errorf("docs/policies.md does not name the parameter %s of %s", p.Name, e.Name)
			}
		}
	}
	for _, e := range catalog.Entries() {
		row := "| `" + e.Name + "` | " + e.Scaler + " | " + e.Evictor + " | " + strings.Join(e.Caps, ", ")
		row = strings.TrimRight(row, " ") + " | " + e.Confidence + " |"
		if e.Kind == "preset" && e.Name != "css" && e.Name != "bss" && e.Name != catalog.Default && !strings.Contains(page, row) {
			t.Errorf("docs/policies.md lacks the row %s", row)
		}
	}
}
