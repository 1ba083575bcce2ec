package main

import (
	"context"
	"flag"
	"os"
	"strings"
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
		Setup: func(env *testscript.Env) error {
			env.Defer(func() { endWorker(t, env.WorkDir) })
			env.Defer(func() { endBoss(t, env.WorkDir) })
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "fit":
				return firstFailed(examine(t.Context())) == nil && checkPython(t.Context()).Verdict == checkOK, nil
			}
			return false, nil
		},
	})
}

// endBoss ends a boss that a transcript which failed has left running.
func endBoss(t *testing.T, dir string) {
	t.Helper()
	var talk strings.Builder
	s := streams{in: strings.NewReader(""), out: &talk, err: &talk, dir: dir}
	if code := run(context.Background(), s, []string{"ol", "boss", "down"}); code != 0 {
		t.Errorf("stop the boss in %s: exit code %d: %s", dir, code, talk.String())
	}
}

// endWorker ends a worker that a transcript which failed has left running.
func endWorker(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	var talk strings.Builder
	s := streams{in: strings.NewReader(""), out: &talk, err: &talk, dir: dir}
	if code := run(context.Background(), s, []string{"ol", "worker", "force-cleanup", "-p", "w"}); code != 0 {
		t.Errorf("clean up in %s: exit code %d: %s", dir, code, talk.String())
	}
}
