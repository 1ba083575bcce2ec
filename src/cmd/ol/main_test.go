package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/open-lambda/open-lambda/sock/runc/oci"
	"github.com/open-lambda/open-lambda/src/emulate/pki"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ol":             func() { os.Exit(realMain()) },
		"ol-runc":        func() { os.Exit(oci.Main(os.Args[1:], haveCgo)) },
		"emulatedworker": func() { os.Exit(emulatedWorker()) },
		"chatter":        func() { os.Exit(chatter(os.Args[1])) },
		"pki":            func() { os.Exit(makePKI(os.Args[1], os.Args[2:])) },
	})
}

// makePKI makes an authority and certificates for a host in the directory.
func makePKI(host string, names []string) int {
	a, err := pki.New()
	if err == nil {
		err = a.Write(".", []string{host}, names...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// The transcripts show what a user types and sees. Conditions: [root] and
// [fit], a machine that can run sandboxes.
func TestScript(t *testing.T) {
	testscript.Run(t, scripts(t, testscript.Params{Dir: "testdata/script", UpdateScripts: *update}))
}

// What a worker with SOCK sandboxes shows, one with OCI containers shows too.
func TestScriptWithContainers(t *testing.T) {
	if !haveCgo {
		t.Skip("NOT RUN: OCI containers need cgo, that is, a C compiler when this test was built")
	}
	testscript.Run(t, scripts(t, testscript.Params{Files: []string{"testdata/script/serve.txtar"}}, "OL_SANDBOX=runc"))
}

// scripts completes the parameters; env is for every transcript.
func scripts(t *testing.T, p testscript.Params, env ...string) testscript.Params {
	p.RequireExplicitExec, p.RequireUniqueNames = true, true
	p.Setup = func(e *testscript.Env) error {
		e.Vars = append(e.Vars, env...)
		e.Defer(func() { endWorker(t, e.WorkDir) })
		e.Defer(func() { endBoss(t, e.WorkDir) })
		return nil
	}
	p.Condition = func(name string) (bool, error) {
		switch name {
		case "root":
			return os.Geteuid() == 0, nil
		case "fit":
			return firstFailed(examine(t.Context())) == nil && checkPython(t.Context()).Verdict == checkOK, nil
		}
		return false, nil
	}
	return p
}

// endBoss ends a boss that a transcript which failed has left running, and its
// workers.
func endBoss(t *testing.T, dir string) {
	t.Helper()
	var talk strings.Builder
	s := streams{in: strings.NewReader(""), out: &talk, err: &talk, dir: dir}
	if code := run(context.Background(), s, []string{"ol", "boss", "down"}); code != 0 {
		t.Errorf("end boss in %s: exit code %d: %s", dir, code, talk.String())
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
