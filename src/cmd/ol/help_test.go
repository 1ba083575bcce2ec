package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestFoldLine(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("words ", 20))
	tests := []struct{ name, in, want string }{
		{"short", "   --json  answer in JSON", "   --json  answer in JSON"},
		{"table", "   --flag  " + words, "   --flag  " + strings.TrimSpace(strings.Repeat("words ", 11)) + "\n           " + strings.TrimSpace(strings.Repeat("words ", 9))},
		{"text", "   " + words, "   " + strings.TrimSpace(strings.Repeat("words ", 13)) + "\n   " + strings.TrimSpace(strings.Repeat("words ", 7))},
		{"wide head", "   " + strings.Repeat("x", 50) + "  " + words[:29], "   " + strings.Repeat("x", 50) + "\n         " + words[:29]},
	}
	for _, tt := range tests {
		if got := foldLine(tt.in); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// Every help text fits a terminal of 80 columns.
func TestHelpWidth(t *testing.T) {
	for _, path := range commandPaths(newApp(streams{}).Commands, nil) {
		var out strings.Builder
		s := streams{out: &out, err: &out, dir: t.TempDir()}
		args := append(append([]string{"ol"}, path...), "--help")
		if code := run(context.Background(), s, args); code != 0 || out.Len() == 0 {
			t.Errorf("%v: exit code %d, %q", args, code, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if len(line) > helpWidth+1 {
				t.Errorf("%v: %d columns: %s", args, len(line)-1, line)
			}
		}
	}
}

func commandPaths(commands []*cli.Command, above []string) [][]string {
	paths := [][]string{above}
	for _, c := range commands {
		paths = append(paths, commandPaths(c.Subcommands, append(above[:len(above):len(above)], c.Name))...)
	}
	return paths
}

// Programs can read what every command answers, unless that is a program or an
// explanation.
func TestEveryCommandAnswersJSON(t *testing.T) {
	var walk func(path string, commands []*cli.Command)
	walk = func(path string, commands []*cli.Command) {
		for _, c := range commands {
			walk(path+" "+c.Name, c.Subcommands)
			hasJSON := slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), "json") })
			if len(c.Subcommands) == 0 && !c.Hidden && c.Name != "completion" && c.Name != "explain" && !hasJSON {
				t.Errorf("%s %s has no --json", path, c.Name)
			}
		}
	}
	walk("ol", newApp(streams{}).Commands)
}
