package sock_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/sock"
)

// killAll kills, again and again until ctx ends, whatever is in the containers
// of an instance, as the kernel does that is short of memory. It returns how
// many processes those were.
func killAll(ctx context.Context, instance string) (killed int) {
	for ctx.Err() == nil {
		lists, _ := filepath.Glob("/sys/fs/cgroup/*/openlambda-" + instance + "/container-*/cgroup.procs")
		unified, _ := filepath.Glob("/sys/fs/cgroup/openlambda-" + instance + "/container-*/cgroup.procs")
		for _, list := range append(lists, unified...) {
			text, _ := os.ReadFile(list) // the group may be gone
			for word := range strings.FieldsSeq(string(text)) {
				if pid, err := strconv.Atoi(word); err == nil && pid > 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
					killed++
				}
			}
		}
	}
	return killed
}

// deadChildren counts those of a process that nobody has reaped.
func deadChildren(t *testing.T, parent int) (n int) {
	t.Helper()
	for _, pid := range childrenOf(t, strconv.Itoa(parent)) {
		stat, _ := os.ReadFile("/proc/" + pid + "/stat") // it may have ended
		if strings.Contains(string(stat), ") Z ") {
			n++
		}
	}
	return n
}

// Starts that are killed halfway leave no dead processes behind.
func TestContainersKilledHalfway(t *testing.T) {
	instance := ""
	p := containers(t, func(cfg *sock.Config) { instance = cfg.Instance })
	dir := t.TempDir()
	ctx, over := context.WithCancel(t.Context())
	killed := make(chan int)
	go func() { killed <- killAll(ctx, instance) }()
	failed := 0
	for range 15 {
		s, err := p.Create(t.Context(), sock.Spec{ID: "killed", Dir: dir, Entry: "f.py", Slots: 1, MemMB: 64, Procs: 10, MaxBody: 1})
		if err != nil {
			failed++
			continue
		}
		if err := s.Destroy(t.Context()); err != nil {
			t.Error(err)
		}
	}
	over()
	if n := <-killed; n == 0 || failed == 0 {
		t.Fatalf("%d processes were killed, %d starts have failed", n, failed)
	}
	after := create(t, p, "after")
	if err := after.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	pid, deadline := helperPID(t), time.Now().Add(time.Minute)
	for deadChildren(t, pid) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("the helper has %d dead children", deadChildren(t, pid))
		}
		<-time.After(20 * time.Millisecond)
	}
}
