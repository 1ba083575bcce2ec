package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/ids"
)

// checkUserNamespaces makes one as sandboxes have it, around a process that
// does nothing. Sandboxes work without, with less between them and the host.
func checkUserNamespaces(ctx context.Context) check {
	const name = "user ids"
	if os.Geteuid() != 0 {
		return check{name, checkWarn, "User namespaces were not tried without root.", "sudo ol doctor"}
	}
	block, err := ids.Claim()
	if err != nil {
		return check{name, checkWarn, "No range of user ids is free for another worker: " + err.Error() + ".", "stop a worker: ol worker down"}
	}
	defer block.Release()
	mapping := []syscall.SysProcIDMap{{ContainerID: 0, HostID: int(block.First), Size: ids.SliceSize}}
	cmd := exec.CommandContext(ctx, "/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS, UidMappings: mapping, GidMappings: mapping,
		GidMappingsEnableSetgroups: true, Credential: &syscall.Credential{},
	}
	if err := cmd.Run(); err != nil {
		return check{
			name, checkWarn, "Sandboxes get plain user ids, for the kernel gives no user namespaces: " + err.Error() + ".",
			"sysctl -w user.max_user_namespaces=10000",
		}
	}
	return check{name, checkOK, "Each sandbox gets user ids of its own in a user namespace (from " + strings.ReplaceAll(block.String(), "-", " to ") + ").", ""}
}
