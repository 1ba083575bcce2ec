package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/src/api"
)

// chatter writes lines to the log at a path that is its output, as a worker in
// the background does.
func chatter(path string) int {
	out := boundOutput(os.Stderr, path, 1000)
	for i := range 200 {
		fmt.Fprintf(out, "line %d\n", i)
	}
	fmt.Println("to the output itself")
	return 0
}

// The log of a worker in the background begins anew before it is too long, the
// one before it stays, and the rest of the output goes where the log goes.
func TestLogOfTheBackgroundIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), outputFile)
	log, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", path)
	cmd.Args[0], cmd.Stdout, cmd.Stderr = "chatter", log, log
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	older, err := os.ReadFile(path + api.LogOlder)
	if err != nil {
		t.Fatal(err)
	}
	if len(now) > 1000+100 || len(older) > 1000 || len(older) < 900 {
		t.Errorf("the logs have %d and %d bytes", len(now), len(older))
	}
	text := string(now)
	if !strings.HasPrefix(text, "line ") || !strings.HasSuffix(text, "line 199\nto the output itself\n") {
		t.Errorf("the log is %q", text)
	}
	var last, next int
	lines := strings.Split(strings.TrimSpace(string(older)), "\n")
	fmt.Sscanf(lines[len(lines)-1], "line %d", &last)
	fmt.Sscanf(text, "line %d", &next)
	if next != last+1 {
		t.Errorf("the older log ends with line %d, the newer begins with %d", last, next)
	}
	// What goes elsewhere is left alone.
	var other bytes.Buffer
	if boundOutput(&other, path, 1000) != &other || boundOutput(os.Stderr, path, 1000) != os.Stderr {
		t.Error("an output is bounded that is no log")
	}
}
