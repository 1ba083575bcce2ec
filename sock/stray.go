package sock

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// reapStrays ends processes that a zygote has made before it died without a
// word. They are children of ours, so nobody else can reap them.
func (p *Provider) reapStrays(g *cgroup.Group) {
	pids, err := g.Pids()
	p.logError("list strays", err)
	for _, pid := range pids {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			continue
		}
		_, err := unix.Wait4(pid, nil, 0, nil)
		p.logError("reap stray", err)
	}
	// One that has ended already is in no list of the group's.
	err = ReapDead("openlambda-"+p.cfg.Instance, func(group string) bool { return group == g.Name() })
	p.logError("reap dead strays", err)
}

// ReapDead reaps children of this process that have ended in a control group of
// the folder for which nobody cares.
func ReapDead(folder string, lost func(group string) bool) error {
	all, err := children()
	if err != nil {
		return err
	}
	for _, pid := range all {
		group, dead := deadIn(pid, "/"+strings.Trim(folder, "/")+"/")
		if !dead || !lost(group) {
			continue
		}
		if _, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); err != nil {
			return fmt.Errorf("reap process %d: %w", pid, err)
		}
	}
	return nil
}

// children are those of this process, whichever thread began them.
func children() (all []int, err error) {
	lists, err := filepath.Glob("/proc/self/task/*/children") // proc_pid_children(5)
	if err != nil {
		return nil, fmt.Errorf("list children: %w", err)
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all, nil
}

// deadIn tells whether a child has ended and is not reaped, and the name of the
// control group below the folder that it was in; "" is no such group. What
// cannot be read is a child that somebody else reaped.
func deadIn(pid int, folder string) (group string, dead bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	state := stat[bytes.LastIndexByte(stat, ')')+1:] // proc_pid_stat(5): the name before it may hold anything
	if !bytes.HasPrefix(state, []byte(" Z ")) {
		return "", false
	}
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(groups)) {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), folder); ok {
			return strings.TrimSuffix(name, " (deleted)"), true
		}
	}
	return "", true
}
