package main

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"
)

// Verdicts of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn" // sandboxes work, something else will not
	checkFail = "fail" // sandboxes do not work
)

// check is one thing that the host was examined for.
type check struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"` // ok, warn or fail
	What    string `json:"what"`    // one sentence
	Mend    string `json:"mend,omitempty"`
}

func doctorCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:        "doctor",
		Usage:       "say whether this machine can run sandboxes, and what mends it",
		Description: "Exit code 5 if it cannot. Nothing is changed.",
		Flags:       []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			checks := examine(c.Context)
			if c.Bool("json") {
				if err := s.printJSON(checks); err != nil {
					return err
				}
			} else {
				printChecks(s, checks)
			}
			if failed := firstFailed(checks); failed != nil {
				return fail(codeUnfit, "this machine cannot run sandboxes yet", nil, "")
			}
			return nil
		},
	}
}

func printChecks(s streams, checks []check) {
	for _, k := range checks {
		s.print("%-4s  %-11s %s", k.Verdict, k.Name, k.What)
		if k.Mend != "" {
			s.print("      %-11s mend: %s", "", k.Mend)
		}
	}
}

func firstFailed(checks []check) *check {
	for i := range checks {
		if checks[i].Verdict == checkFail {
			return &checks[i]
		}
	}
	return nil
}

// examine runs all checks.
func examine(ctx context.Context) []check {
	checks := []check{checkKernel(), checkPrivilege()}
	checks = append(checks, checkCgroups()...)
	return append(
		checks,
		checkNamespaces(ctx), checkUserNamespaces(ctx), checkNetwork(), checkSeccomp(), checkRunc(), checkPython(ctx), checkPip(ctx), checkMemory(), checkGit(),
	)
}

// requireFit fails a command early on a machine that cannot run sandboxes, with
// a filter of system calls or without.
func requireFit(ctx context.Context, what string, seccomp bool) error {
	checks := slices.DeleteFunc(examine(ctx), func(k check) bool { return k.Name == "seccomp" && !seccomp })
	if failed := firstFailed(checks); failed != nil {
		next := "see all checks: ol doctor"
		if failed.Mend != "" {
			next = "mend: " + failed.Mend + "   (all checks: ol doctor)"
		}
		return &failure{code: codeUnfit, what: what + ": " + failed.What, next: next}
	}
	return nil
}
