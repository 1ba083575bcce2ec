package cgroup

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
)

// Controllers that limits need.
const (
	memory = "memory"
	pids   = "pids"
	cpu    = "cpu"
)

var wanted = [...]string{memory, pids, cpu}

// Hierarchy is one mounted tree of control groups.
type Hierarchy struct {
	Mount string // where it is mounted
	Own   string // directory of this process's own group in it, Mount if it is the root
}

// Layout says where a host keeps its control groups.
type Layout struct {
	Unified Hierarchy            // the v2 tree; zero if none is mounted
	V1      map[string]Hierarchy // v1 hierarchies by controller
	Others  []string             // where v1 hierarchies without a controller that is needed are mounted
}

// Full reports whether the v2 tree carries every controller that is needed.
func (l Layout) Full() bool {
	return l.Unified.Mount != "" && len(l.v2Controllers()) == len(wanted)
}

// v2Controllers lists the needed controllers that no v1 hierarchy has taken.
func (l Layout) v2Controllers() []string {
	var names []string
	for _, c := range wanted {
		if _, ok := l.V1[c]; !ok {
			names = append(names, c)
		}
	}
	return names
}

// ReadLayout derives the layout from the contents of /proc/self/mountinfo and
// /proc/self/cgroup.
func ReadLayout(mounts, self io.Reader) (Layout, error) {
	own, err := readSelf(self)
	if err != nil {
		return Layout{}, err
	}
	infos, err := mountinfo.GetMountsFromReader(mounts, mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	if err != nil {
		return Layout{}, fmt.Errorf("read mountinfo: %w", err)
	}
	l := Layout{V1: map[string]Hierarchy{}}
	for _, m := range infos {
		l.add(m, own)
	}
	return l, nil
}

func (l *Layout) add(m *mountinfo.Info, own map[string]string) {
	if m.FSType == "cgroup2" {
		if l.Unified.Mount == "" {
			l.Unified = hierarchy(m, own[""])
		}
		return
	}
	needed := false
	for option := range strings.SplitSeq(m.VFSOptions, ",") {
		if _, taken := l.V1[option]; taken || !slices.Contains(wanted[:], option) {
			continue
		}
		l.V1[option] = hierarchy(m, own[option])
		needed = true
	}
	if !needed {
		l.Others = append(l.Others, m.Mountpoint)
	}
}

// hierarchy joins a mount and the path of the own group, both as the kernel
// prints them: relative to the root of the hierarchy. A path that lies outside
// the mounted part is taken as the mount itself.
func hierarchy(m *mountinfo.Info, own string) Hierarchy {
	rel, err := filepath.Rel(m.Root, own)
	if own == "" || err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		rel = "."
	}
	return Hierarchy{Mount: m.Mountpoint, Own: filepath.Join(m.Mountpoint, rel)}
}

// readSelf parses /proc/self/cgroup: "4:cpu,cpuacct:/path", and "0::/path"
// for v2, which is returned under the empty name.
func readSelf(r io.Reader) (map[string]string, error) {
	own := map[string]string{}
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		parts := strings.SplitN(scan.Text(), ":", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("parse own cgroup: line %q has no three fields", scan.Text())
		}
		for name := range strings.SplitSeq(parts[1], ",") {
			own[name] = parts[2]
		}
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("read own cgroup: %w", err)
	}
	return own, nil
}
