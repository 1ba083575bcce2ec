package soak

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Machine tells what a worker has on this machine.
type Machine struct {
	Instance string   // name of its control groups: openlambda-INSTANCE
	Dirs     []string // of its sandboxes, uploads and the like
}

// Left counts. Files of lambdas, logs and settings are none of it.
func (m Machine) Left() (l Left, err error) {
	links, err := net.Interfaces()
	if err != nil {
		return l, fmt.Errorf("list network links: %w", err)
	}
	for _, link := range links {
		if strings.HasPrefix(link.Name, "ollb"+m.Instance[:min(6, len(m.Instance))]+"-") {
			l.Links++
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return l, fmt.Errorf("list mounts: %w", err)
	}
	for _, dir := range m.Dirs {
		l.Mounts += strings.Count(string(mounts), " "+dir)
		n, err := files(dir)
		if err != nil {
			return l, err
		}
		l.Files += n
	}
	groups, err := m.groups()
	if err != nil {
		return l, err
	}
	l.Cgroups = len(groups)
	pids, err := m.Processes()
	l.Processes = len(pids)
	return l, err
}

// files counts regular files, sockets and links below dir, but no locks.
func files(dir string) (n int, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !e.IsDir() && e.Name() != "lock" {
			n++
		}
		return err
	})
	return n, err
}

// groups lists the worker's control groups in every hierarchy.
func (m Machine) groups() ([]string, error) {
	var all []string
	for _, pattern := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} {
		found, err := filepath.Glob(filepath.Join(pattern, "openlambda-"+m.Instance, "*"))
		if err != nil {
			return nil, fmt.Errorf("list control groups: %w", err)
		}
		for _, dir := range found {
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				all = append(all, dir)
			}
		}
	}
	return all, nil
}

// Processes lists the worker's sandboxes', zygotes' and parked children's.
func (m Machine) Processes() ([]int, error) {
	groups, err := m.groups()
	if err != nil {
		return nil, err
	}
	seen := map[int]bool{}
	var all []int
	for _, dir := range groups {
		text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			continue // the group is gone meanwhile
		}
		for word := range strings.FieldsSeq(string(text)) {
			pid, err := strconv.Atoi(word)
			if err == nil && pid > 0 && !seen[pid] {
				seen[pid] = true
				all = append(all, pid)
			}
		}
	}
	return all, nil
}

// KillOne ends one of the Processes with kill -9. pick chooses one of n; false
// means that there was none, or that it had ended by itself.
func (m Machine) KillOne(pick func(n int) int) (bool, error) {
	pids, err := m.Processes()
	if err != nil || len(pids) == 0 {
		return false, err
	}
	pid := pids[pick(len(pids))]
	p, err := os.FindProcess(pid) // a handle: the number cannot pass on to a stranger
	if err != nil {
		return false, fmt.Errorf("find process %d: %w", pid, err)
	}
	own, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil || !strings.Contains(string(own), "/openlambda-"+m.Instance+"/") {
		return false, p.Release()
	}
	err = p.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		return false, nil
	}
	return err == nil, err
}
