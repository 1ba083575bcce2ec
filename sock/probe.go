package sock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// Probe examines whether sandboxes can be made on this host from a base, and
// changes nothing. Without root it cannot see everything and says so.
func Probe(base string) cgroup.Report {
	report := cgroup.Probe()
	for _, check := range []func() *cgroup.Lack{lackRoot, lackMountCalls, lackClone, func() *cgroup.Lack { return lackPython(base) }} {
		if lack := check(); lack != nil {
			report.Lacks = append(report.Lacks, *lack)
		}
	}
	return report
}

func lackRoot() *cgroup.Lack {
	if os.Geteuid() == 0 {
		return nil
	}
	return &cgroup.Lack{What: "Sandboxes can only be made by root.", Mend: "run the command with sudo"}
}

// lackMountCalls tries mount_setattr (Linux 5.12), the youngest of the calls
// that hang directories in, with arguments that can do nothing.
func lackMountCalls() *cgroup.Lack {
	err := unix.MountSetattr(-1, "", unix.AT_EMPTY_PATH, &unix.MountAttr{})
	if !errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return &cgroup.Lack{
		What: "The kernel is older than 5.12 and lacks mount_setattr.",
		Mend: "install a kernel of at least 5.12, as Ubuntu 22.04 and Debian 12 have",
	}
}

// lackClone looks for the namespaces that a sandbox lives in.
func lackClone() *cgroup.Lack {
	for _, name := range []string{"mnt", "pid", "ipc", "uts", "net"} {
		if _, err := os.Stat("/proc/self/ns/" + name); err != nil {
			return &cgroup.Lack{
				What: fmt.Sprintf("The kernel has no %s namespaces.", name),
				Mend: "install a kernel built with CONFIG_NAMESPACES and its options",
			}
		}
	}
	return nil
}

func lackPython(base string) *cgroup.Lack {
	root := base
	if base == BaseHost {
		root = "/"
	}
	for _, path := range pythons {
		if info, err := os.Stat(filepath.Join(root, path)); err == nil && info.Mode().IsRegular() {
			return nil
		}
	}
	if base == BaseHost {
		return &cgroup.Lack{
			What: "There is no /usr/bin/python3, which the base \"host\" runs lambdas with.",
			Mend: "apt-get install -y python3",
		}
	}
	return &cgroup.Lack{
		What: fmt.Sprintf("The base %s holds no usr/bin/python3.", base),
		Mend: "choose another base, or \"host\"",
	}
}
