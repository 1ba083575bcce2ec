package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// descendants lists the children of a process, and theirs.
func descendants(pid int) ([]int, error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // proc_pid_children(5)
	if err != nil {
		return nil, fmt.Errorf("list children: %w", err)
	}
	var all []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for word := range strings.FieldsSeq(string(text)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				return nil, fmt.Errorf("understand %s: %w", list, err)
			}
			theirs, err := descendants(child)
			if err != nil {
				return nil, err
			}
			all = append(append(all, child), theirs...)
		}
	}
	return all, nil
}

func countThreads(pid int) (int, error) {
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0, fmt.Errorf("count threads: %w", err)
	}
	return len(all), nil
}

// Family is processes, each told apart from a later one with its number.
type Family map[int]uint64 // pid -> start, in clock ticks since boot

// Descendants are those of a process, whatever control group they are in.
func Descendants(pid int) (Family, error) {
	all, err := descendants(pid)
	if err != nil {
		return nil, err
	}
	f := Family{}
	for _, pid := range all {
		if start, ok := started(pid); ok {
			f[pid] = start
		}
	}
	return f, nil
}

// Alive counts those that have not ended.
func (f Family) Alive() (n int) {
	for pid, then := range f {
		if now, ok := started(pid); ok && now == then {
			n++
		}
	}
	return n
}

// started is false for a process that has ended, even if nobody has waited for
// it yet.
func started(pid int) (uint64, bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, false
	}
	s, err := p.Stat()
	return s.Starttime, err == nil && s.State != "Z"
}
