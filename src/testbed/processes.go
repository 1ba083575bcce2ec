package testbed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Processes lists the processes whose network is a host's, by what the kernel
// says and not by what anybody wrote down. A host that is not there has none.
func (n Network) Processes(host string) ([]int, error) {
	there, err := os.Stat(filepath.Join(nsDir, n.ns(host)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at host %s: %w", host, err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && livesIn(pid, there) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// livesIn tells whether a process is in a network; one that has ended, a zombie
// included, is in none.
func livesIn(pid int, network fs.FileInfo) bool {
	its, err := os.Stat(fmt.Sprintf("/proc/%d/ns/net", pid))
	return err == nil && os.SameFile(its, network)
}

// killLimit is how long the kernel may take to end what was killed.
const killLimit = 20 * time.Second

// Kill ends every process of a host at once (SIGKILL) and waits until there is
// none: also those that nobody knows of, since their parent was killed.
func (n Network) Kill(host string) error {
	deadline := time.Now().Add(killLimit)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		pids, err := n.Processes(host)
		if err != nil || len(pids) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("kill processes of host %s: %v do not end", host, pids)
		}
		for _, pid := range pids {
			if err := n.killOne(host, pid); err != nil {
				return fmt.Errorf("kill process %d of host %s: %w", pid, host, err)
			}
		}
		<-tick.C
	}
}

// killOne kills a process if it is that of the host still.
func (n Network) killOne(host string, pid int) error {
	there, err := os.Stat(filepath.Join(nsDir, n.ns(host)))
	if err != nil {
		return err
	}
	process, err := os.FindProcess(pid) // a handle of the process, whoever has its number later
	if err != nil {
		return err
	}
	defer func() { _ = process.Release() }() // nothing to be done if it fails
	if !livesIn(pid, there) {
		return nil
	}
	if err := process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
