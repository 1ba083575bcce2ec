package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Lack is one thing that the host needs to run sandboxes with enforced limits.
type Lack struct {
	What string // one sentence
	Mend string // command or setting that mends it
}

// Report is what Probe found.
type Report struct {
	Layout string // "cgroup v2" or "hybrid: v2 tree with v1 controllers"
	Lacks  []Lack
}

// OK reports whether nothing is lacking.
func (r Report) OK() bool { return len(r.Lacks) == 0 }

// Probe examines the host without changing it.
func Probe() Report {
	layout, err := hostLayout()
	if err != nil {
		return Report{Layout: "unknown", Lacks: []Lack{{
			What: "The kernel's list of control groups cannot be read: " + err.Error() + ".",
			Mend: "mount -t proc proc /proc",
		}}}
	}
	return probe(layout)
}

func probe(l Layout) Report {
	if l.Unified.Mount == "" {
		return Report{Layout: "cgroup v1", Lacks: []Lack{{
			What: "No cgroup v2 tree is mounted; sandboxes are frozen and killed through it.",
			Mend: "mkdir -p /sys/fs/cgroup/unified && mount -t cgroup2 none /sys/fs/cgroup/unified",
		}}}
	}
	r := Report{Layout: "cgroup v2"}
	if !l.Full() {
		r.Layout = "hybrid: v2 tree with v1 controllers"
	}
	r.Lacks = append(r.Lacks, lackingControllers(l)...)
	r.Lacks = append(r.Lacks, lackingAccess(l)...)
	return r
}

// lackingControllers names the controllers that neither tree offers.
func lackingControllers(l Layout) []Lack {
	raw, _ := os.ReadFile(filepath.Join(l.Unified.Mount, "cgroup.controllers"))
	present := strings.Fields(string(raw))
	var lacks []Lack
	for _, c := range l.v2Controllers() {
		if slices.Contains(present, c) {
			continue
		}
		lacks = append(lacks, Lack{
			What: fmt.Sprintf("The kernel offers no cgroup controller %q, so that limit cannot be enforced.", c),
			Mend: mendController(c),
		})
	}
	return lacks
}

func mendController(c string) string {
	if c == memory {
		return "add cgroup_enable=memory to the kernel's command line and reboot"
	}
	return "enable the controller " + c + " in the kernel's command line, or delegate it: systemctl set-property --runtime -- system.slice Delegate=yes"
}

// lackingAccess names the hierarchies that can't be written.
func lackingAccess(l Layout) []Lack {
	var lacks []Lack
	check := func(name string, h Hierarchy) {
		if writable(h.Mount) || writable(h.Own) {
			return
		}
		lacks = append(lacks, Lack{
			What: fmt.Sprintf("The %s control groups under %s are not writable.", name, h.Mount),
			Mend: "run as root; in a container: mount -o remount,rw " + h.Mount,
		})
	}
	check("v2", l.Unified)
	for _, c := range wanted {
		if h, ok := l.V1[c]; ok {
			check(c, h)
		}
	}
	return lacks
}

// writable reports whether this process may make a directory in dir.
func writable(dir string) bool {
	return unix.Access(dir, unix.W_OK) == nil
}
