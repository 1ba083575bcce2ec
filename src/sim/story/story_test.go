package story

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
)

// The stories are kept as they are told; UPDATE_STORIES=1 tells them anew.
func TestStories(t *testing.T) {
	update := os.Getenv("UPDATE_STORIES") != ""
	for _, name := range []string{"cidre", "cidre-bss", "lru", "queue-length"} {
		t.Run(name, func(t *testing.T) {
			s := Burst()
			s.Policy = func(o policies.Oracle) (catalog.Policy, error) {
				return catalog.New(name, "", "", catalog.Params{Oracle: o})
			}
			var text strings.Builder
			res, err := Tell(t.Context(), &text, s)
			if err != nil {
				t.Fatal(err)
			}
			if res.Served != 5 {
				t.Errorf("served %d of 5", res.Served)
			}
			path := filepath.Join("testdata", name+".txt")
			if update {
				if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if text.String() != string(want) {
				t.Errorf("told:\n%s\nkept:\n%s", text.String(), want)
			}
		})
	}
}
