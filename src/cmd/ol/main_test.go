package main

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ol": func() { os.Exit(realMain()) },
	})
}

// The transcripts show what a user types and sees. Conditions: [root] and
// [fit], a machine that can run sandboxes.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "fit":
				return firstFailed(examine(t.Context())) == nil, nil
			}
			return false, nil
		},
	})
}
