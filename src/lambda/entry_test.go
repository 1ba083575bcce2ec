package lambda

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEntryIn(t *testing.T) {
	tests := []struct {
		name  string
		files string // separated by spaces; one with a "+" is executable
		env   map[string]string
		want  string
		fault string
	}{
		{"python", "f.py", nil, "f.py", ""},
		{"python first", "f.py f.bin+", nil, "f.py", ""},
		{"program", "f.bin+ bootstrap+", nil, "f.bin", ""},
		{"other program", "bootstrap+ x.py", nil, "bootstrap", ""},
		{"program that cannot run", "f.bin", nil, "f.bin", "chmod +x f.bin"},
		{"named", "f.py main.py", map[string]string{"OL_ENTRY_FILE": "main.py"}, "main.py", ""},
		{"named program", "f.py bootstrap+", map[string]string{"OL_ENTRY_FILE": "bootstrap"}, "bootstrap", ""},
		{"named and absent", "f.py", map[string]string{"OL_ENTRY_FILE": "main.py"}, "", "no entry file main.py"},
		{"nothing", "x.py", nil, "", "no entry file f.py"},
		{"module", "x.py", map[string]string{"OL_WSGI_ENTRY": "x:app"}, "", ""},
		{"module beside a file", "f.py x.py", map[string]string{"OL_ASGI_ENTRY": "x:app"}, "f.py", ""},
		{"object in no file", "x.py", map[string]string{"OL_WSGI_ENTRY": "app"}, "", "no entry file f.py"},
		{"the first that is named counts", "x.py", map[string]string{"OL_WSGI_ENTRY": "app", "OL_ASGI_ENTRY": "x:app"}, "", "no entry file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range strings.Fields(tt.files) {
				path := filepath.Join(dir, strings.TrimSuffix(file, "+"))
				put(t, path, "x")
				if strings.HasSuffix(file, "+") {
					if err := os.Chmod(path, 0o755); err != nil {
						t.Fatal(err)
					}
				}
			}
			c := Default()
			c.Environment = tt.env
			got, err := c.EntryIn(dir)
			if got != tt.want || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
