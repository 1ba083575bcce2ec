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
	dead, err := deadIn("/openlambda-" + p.cfg.Instance + "/" + g.Name())
	p.logError("list dead strays", err)
	for _, pid := range dead {
		_, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		p.logError("reap dead stray", err)
	}
}

// deadIn lists the children of this process that have ended, are not reaped, and
// were in a control group whose path ends like that.
func deadIn(group string) (dead []int, err error) {
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
			if pid, err := strconv.Atoi(word); err == nil && isDeadIn(pid, group) {
				dead = append(dead, pid)
			}
		}
	}
	return dead, nil
}

// isDeadIn is for one. What cannot be read is a child that somebody else reaped.
func isDeadIn(pid int, group string) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state := stat[bytes.LastIndexByte(stat, ')')+1:] // proc_pid_stat(5): the name before it may hold anything
	if !bytes.HasPrefix(state, []byte(" Z ")) {
		return false
	}
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(groups)) {
		if strings.HasSuffix(strings.TrimSuffix(line, "\n"), group) {
			return true
		}
	}
	return false
}
