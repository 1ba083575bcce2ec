package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// The native template is built by what its Makefile says, and serves.
func TestNewNative(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skipf("NOT RUN: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "prog")
	if _, err := writeTemplate("native", dir); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.CommandContext(t.Context(), "make", "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	w := startRegistryWorker(t, imageHost, "")
	w.install("prog", dir)
	registryCall{lambda: "prog", target: "GET /x", want: "hello from /run/prog/x\n"}.run(t, w)
}
