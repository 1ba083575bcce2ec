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

	"github.com/google/nftables"
)

// Machine tells what a worker has on this machine.
type Machine struct {
	Instance string   // name of its control groups: openlambda-INSTANCE
	Link     string   // what the names of its network links begin with
	Table    string   // of its firewall
	Dirs     []string // of lambdas, their code, sandboxes, uploads and the like
}

// Left counts. Logs and settings are none of it.
func (m Machine) Left() (l Left, err error) {
	for _, count := range []func(*Left) error{m.countNetwork, m.countFiles, m.countGroups} {
		if err := count(&l); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (m Machine) countNetwork(l *Left) error {
	links, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list network links: %w", err)
	}
	for _, link := range links {
		if strings.HasPrefix(link.Name, m.Link) {
			l.Links++
		}
	}
	conn, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open nftables: %w", err)
	}
	tables, err := conn.ListTables()
	if err != nil {
		return fmt.Errorf("list firewall tables: %w", err)
	}
	for _, t := range tables {
		if t.Name == m.Table {
			l.Tables++
		}
	}
	return nil
}

func (m Machine) countFiles(l *Left) error {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("list mounts: %w", err)
	}
	for _, dir := range m.Dirs {
		l.Mounts += strings.Count(string(mounts), " "+dir)
		if err := countBelow(dir, l); err != nil {
			return fmt.Errorf("count files: %w", err)
		}
	}
	return nil
}

// countBelow counts regular files, sockets and links, but no locks, and what
// they take of the disk.
func countBelow(dir string, l *Left) error {
	return filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() || e.Name() == "lock" {
			return err
		}
		l.Files++
		if info, err := e.Info(); err == nil { // else it is gone meanwhile
			l.DiskKB += int(info.Size()+1023) >> 10
		}
		return nil
	})
}

func (m Machine) countGroups(l *Left) error {
	groups, err := m.groups()
	if err != nil {
		return err
	}
	l.Cgroups = len(groups)
	pids, err := m.Processes()
	l.Processes = len(pids)
	return err
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
