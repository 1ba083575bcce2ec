package sock

import (
	"fmt"
	"testing"
)

// orphans makes processes whose parents end before them, and children of its
// own, and tells what is left and how its own ended.
const orphans = `
import os, subprocess, time
def zombies():
    found = []
    for n in os.listdir("/proc"):
        if n.isdigit():
            try:
                with open("/proc/%s/stat" % n) as f:
                    if f.read().rpartition(")")[2].split()[0] == "Z":
                        found.append(int(n))
            except OSError:
                pass
    return found

def f(event):
    if event.get("what") == "look":
        # Whatever still runs ends by itself: zombies are what must not stay.
        for _ in range(200):
            if len([n for n in os.listdir("/proc") if n.isdigit()]) <= 1 + len(zombies()):
                break
            time.sleep(0.01)
        return {"left": len(zombies())}
    codes = []
    for i in range(event["n"]):
        # The shell ends at once and leaves its child to pid 1.
        codes.append(subprocess.run(["/bin/sh", "-c", "sleep 0.05 & exit %d" % (i % 5)]).returncode)
        time.sleep(0.06)
    late = subprocess.Popen(["/bin/sh", "-c", "exit 7"])
    time.sleep(0.1)
    pid = os.fork()
    if pid == 0:
        os._exit(9)
    time.sleep(0.05)
    os.fork() == 0 and os._exit(0)  # reaps before it forks: not those two
    return {"codes": sorted(set(codes)), "late": late.wait(), "forked": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}
`

// Orphans do not use up the limit of processes, and children of the lambda's
// own are left for it to wait for, from every origin.
func TestOrphansAreReaped(t *testing.T) {
	for _, pooled := range []bool{true, false} {
		t.Run(fmt.Sprintf("pooled=%t", pooled), func(t *testing.T) {
			cfg := settings(t)
			if !pooled {
				cfg.Zygote, cfg.Pool = false, 0
			}
			p := newProvider(t, cfg)
			warm(t, p)
			spec := code(t, "orphans", orphans)
			spec.Procs = 10
			s := create(t, p, spec)
			status, answer := call(t, s, `{"n": 30}`)
			if want := `{"codes": [0, 1, 2, 3, 4], "late": 7, "forked": 9}`; status != 200 || answer != want {
				t.Fatalf("answer is %d %s, want %s", status, answer, want)
			}
			call(t, s, `{"what": "look"}`)
			// What ended during that call was reaped at its end. The one child that the
			// lambda never waited for is its own business.
			if _, answer := call(t, s, `{"what": "look"}`); answer != `{"left": 1}` {
				t.Errorf("afterwards: %s", answer)
			}
		})
	}
}
