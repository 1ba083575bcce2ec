package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/moby/sys/capability"
	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/cgroup"
	"github.com/open-lambda/open-lambda/sock/runc"
	"github.com/open-lambda/open-lambda/src/config"
)

// Oldest kernel that has all that sandboxes are made with; the last to come
// was cgroup.kill, in 5.14.
const kernelMajor, kernelMinor = 5, 14

func checkKernel() check {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return check{"kernel", checkFail, "The kernel does not tell its version: " + err.Error() + ".", ""}
	}
	release := unix.ByteSliceToString(u.Release[:])
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		return check{"kernel", checkWarn, "Linux " + release + " has no version that can be compared.", ""}
	}
	if major < kernelMajor || major == kernelMajor && minor < kernelMinor {
		return check{
			"kernel", checkFail, fmt.Sprintf("Linux %s is older than %d.%d, which first could kill a whole cgroup.", release, kernelMajor, kernelMinor),
			"boot a newer kernel (Ubuntu 22.04 and Debian 12 have one)",
		}
	}
	return check{"kernel", checkOK, "Linux " + release + ".", ""}
}

func checkPrivilege() check {
	if os.Geteuid() != 0 {
		return check{"privilege", checkFail, "Making namespaces and cgroups takes root.", "run it with sudo"}
	}
	caps, err := capability.NewPid2(0)
	if err == nil {
		err = caps.Load()
	}
	if err != nil {
		return check{"privilege", checkWarn, "The capabilities of this process cannot be read: " + err.Error() + ".", ""}
	}
	for _, want := range []capability.Cap{capability.CAP_SYS_ADMIN, capability.CAP_SETUID, capability.CAP_SETGID, capability.CAP_KILL} {
		if !caps.Get(capability.EFFECTIVE, want) {
			return check{
				"privilege", checkFail, "Root lacks the capability CAP_" + strings.ToUpper(want.String()) + ", probably because this is a container.",
				"start the container with --privileged, or use a virtual machine",
			}
		}
	}
	return check{"privilege", checkOK, "Root with the capabilities that sandboxes are made with.", ""}
}

func checkCgroups() []check {
	report := cgroup.Probe()
	if report.OK() {
		return []check{{"cgroups", checkOK, "Limits can be enforced (" + report.Layout + ").", ""}}
	}
	var checks []check
	for _, lack := range report.Lacks {
		checks = append(checks, check{"cgroups", checkFail, lack.What, lack.Mend})
	}
	return checks
}

// checkNamespaces makes them, around a process that does nothing.
func checkNamespaces(ctx context.Context) check {
	if os.Geteuid() != 0 {
		return check{"namespaces", checkWarn, "Not tried without root.", "sudo ol doctor"}
	}
	cmd := exec.CommandContext(ctx, "/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWNET,
	}
	if err := cmd.Run(); err != nil {
		return check{
			"namespaces", checkFail, "New mount, pid, ipc, uts and network namespaces cannot be made: " + err.Error() + ".",
			"sysctl -w user.max_mnt_namespaces=1000 user.max_pid_namespaces=1000 user.max_net_namespaces=1000",
		}
	}
	return check{"namespaces", checkOK, "Mount, pid, ipc, uts and network namespaces can be made.", ""}
}

func checkSeccomp() check {
	if _, err := os.Stat("/proc/sys/kernel/seccomp/actions_avail"); err != nil {
		return check{
			"seccomp", checkFail, "The kernel does not filter system calls (CONFIG_SECCOMP_FILTER).",
			"ol worker up -o features.enable_seccomp=false, if you trust every lambda",
		}
	}
	return check{"seccomp", checkOK, "System calls can be filtered.", ""}
}

// checkRunc looks for the program that sandbox runc needs, and nothing else does.
func checkRunc() check {
	program, err := runc.FindHelper()
	if err != nil {
		return check{"runc", checkWarn, "OCI containers (sandbox runc) cannot be made: " + err.Error() + ".", mendRunc}
	}
	return check{"runc", checkOK, "OCI containers can be made by " + program + ".", ""}
}

// checkPython looks where sandboxes look: below /usr. Without it sandboxes still
// work, from a base image that has its own.
func checkPython(ctx context.Context) check {
	const mend = "apt-get install python3, or use another base: ol worker init -i debian"
	text, err := exec.CommandContext(ctx, "/usr/bin/python3", "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").Output()
	if err != nil {
		return check{"python", checkWarn, "/usr/bin/python3, which base \"host\" shows to its sandboxes, does not run: " + err.Error() + ".", mend}
	}
	version := strings.TrimSpace(string(text))
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil || major != 3 || minor < 9 {
		return check{"python", checkWarn, "/usr/bin/python3 is version " + version + ", older than 3.9.", "use another base: ol worker init -i debian"}
	}
	return check{"python", checkOK, "/usr/bin/python3 is version " + version + ".", ""}
}

func checkMemory() check {
	const least = 1024
	mb, err := config.MachineMB()
	if err != nil {
		return check{"memory", checkWarn, "The machine's memory cannot be read: " + err.Error() + ".", ""}
	}
	if mb < least {
		return check{
			"memory", checkWarn, fmt.Sprintf("%d MB of memory leave little for sandboxes.", mb),
			"set a smaller pool: ol worker up -o mem_pool_mb=200,limits.mem_mb=50",
		}
	}
	return check{"memory", checkOK, fmt.Sprintf("%d MB of memory.", mb), ""}
}

func checkGit() check {
	if _, err := exec.LookPath("git"); err != nil {
		return check{"git", checkWarn, "There is no git, so lambdas cannot be installed from a git URL.", "apt-get install git"}
	}
	return check{"git", checkOK, "Lambdas can be installed from git URLs.", ""}
}
