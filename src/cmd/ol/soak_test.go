package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/open-lambda/open-lambda/src/soak"
)

// A short soak: every request of three lives of a worker, one of which ends by
// kill -9, gets what it has to get, and nothing is left over.
func TestSoak(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: sandboxes need root")
	}
	if testing.Short() {
		t.Skip("it takes half a minute: left out with -short")
	}
	if failed := firstFailed(examine(t.Context())); failed != nil || checkPython(t.Context()).Verdict != checkOK {
		t.Skipf("NOT RUN: this machine cannot run sandboxes: %v", failed)
	}
	code, out, talk := ol(t, t.TempDir(), "bench", "soak", "--length", "12s", "--json")
	var report soak.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("exit code %d: %v\n%s", code, err, talk)
	}
	for _, fault := range report.Faults {
		t.Error(fault)
	}
	if code != 0 || report.FaultCount > 0 || report.Left != (soak.Left{}) {
		t.Errorf("exit code %d, %d faults, left over: %+v", code, report.FaultCount, report.Left)
	}
	// A soak that did nothing proves nothing.
	if report.WorkerKills != 1 || report.Updates == 0 || report.Total()["right"] == 0 || len(report.Held) != 2 {
		t.Errorf("nothing much happened: %+v", report.Total())
	}
	t.Log("\n" + talk)
}
