package lambda

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadDir(t *testing.T) {
	tests := []struct {
		name     string
		files    map[string]string // a text that ends in / makes a directory
		fault    string            // of the lambda
		warnings []string
	}{
		{"nothing", nil, "", nil},
		{"good", map[string]string{ConfigFile: "concurrency: 2"}, "", nil},
		{"packages", map[string]string{RequirementsFile: "flask==1.0"}, "", nil},
		{"bad packages", map[string]string{RequirementsFile: "-e ."}, "requirements.txt: \"-e .\" is an option", nil},
		{"no packages", map[string]string{RequirementsFile: ""}, "", nil},
		{"triggers", map[string]string{ConfigFile: "triggers: {cron: [{schedule: '@daily'}]}"}, "", nil},
		{"bad", map[string]string{ConfigFile: "a: ["}, "parse ol.yaml: yaml: line 1", nil},
		{"large", map[string]string{ConfigFile: strings.Repeat("#", MaxConfigBytes+9)}, "more than the limit", nil},
		{"directory", map[string]string{ConfigFile: "/"}, "read ol.yaml: it is not a regular file", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				put(t, filepath.Join(dir, name), text)
			}
			_, warnings, err := ReadDir(dir)
			var format *FormatError
			if tt.fault == "" && err != nil || tt.fault != "" && (!errors.As(err, &format) || !strings.Contains(err.Error(), tt.fault)) {
				t.Errorf("error %v", err)
			}
			if len(warnings) != len(tt.warnings) {
				t.Fatalf("warnings %q", warnings)
			}
			for i, w := range tt.warnings {
				if !strings.Contains(warnings[i], w) {
					t.Errorf("warning %q does not name %s", warnings[i], w)
				}
			}
		})
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	err := os.WriteFile(path, []byte(text), 0o644)
	if text == "/" {
		err = errors.Join(os.Remove(path), os.Mkdir(path, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
}
