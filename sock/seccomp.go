package sock

import (
	"encoding/binary"
	"fmt"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// refused are system calls that no lambda needs and that act on the kernel as
// a whole, look into other processes, or reach code with a history of holes.
// They fail with EPERM. A zygote installs this filter once for all its
// children.
var refused = [...]string{
	// kernel log, time, power, modules
	"syslog", "acct", "clock_adjtime", "clock_settime", "settimeofday", "adjtimex", "reboot",
	"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "create_module",
	"query_module", "get_kernel_syms", "iopl", "ioperm", "swapon", "swapoff", "quotactl", "quotactl_fd",
	"nfsservctl", "uselib", "_sysctl", "sysfs", "ustat", "vhangup", "setdomainname",
	"lookup_dcookie", "personality",
	// mounts and namespaces
	"umount", "umount2", "pivot_root", "chroot", "mount_setattr", "open_tree",
	"fsopen", "fsconfig", "fsmount", "fspick", "open_tree_attr",
	// other processes
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
	"move_pages", "migrate_pages", "mbind", "set_mempolicy", "set_mempolicy_home_node",
	// keys, files by handle, large attack surface
	"add_key", "request_key", "keyctl", "name_to_handle_at", "open_by_handle_at", "bpf", "perf_event_open",
	"userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "fanotify_init", "fanotify_mark",
	"vmsplice", "mknod", "mknodat",
}

// refusedLate are calls that a zygote needs and a child does not. They are
// refused by a second, short filter, which each child installs before it is
// parked. What a child needs until it becomes a lambda (mount, move_mount,
// sethostname) is left to the kernel, which refuses it to whoever has no
// capability in the namespace's user namespace and, by this filter, can make
// none: a third filter would take as long as the rest of a start.
var refusedLate = [...]string{"setns", "unshare"}

// Address families that only reach the hypervisor and the kernel's crypto.
const (
	familyALG   = unix.AF_ALG
	familyVsock = unix.AF_VSOCK
)

// newNamespaces are the flags of clone that make namespaces.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWPID |
	unix.CLONE_NEWNET | unix.CLONE_NEWUSER | unix.CLONE_NEWCGROUP

// seccompFilters assembles both filters as the kernel takes them: arrays of
// struct sock_filter.
func seccompFilters() (early, late []byte, err error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, nil, fmt.Errorf("assemble seccomp filter: %w", err)
	}
	if early, err = assemble(prologue(info), []seccomp.SyscallGroup{deny(info, refused[:])}); err != nil {
		return nil, nil, err
	}
	late, err = assemble(nil, lateGroups(info))
	return early, late, err
}

func assemble(before []bpf.Instruction, groups []seccomp.SyscallGroup) ([]byte, error) {
	policy := seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: groups}
	body, err := policy.Assemble()
	if err != nil {
		return nil, fmt.Errorf("assemble seccomp filter: %w", err)
	}
	raw, err := bpf.Assemble(append(before, body...))
	if err != nil {
		return nil, fmt.Errorf("assemble seccomp filter: %w", err)
	}
	out := make([]byte, 0, 8*len(raw))
	for _, in := range raw {
		out = binary.NativeEndian.AppendUint16(out, in.Op)
		out = append(out, in.Jt, in.Jf)
		out = binary.NativeEndian.AppendUint32(out, in.K)
	}
	return out, nil
}

// deny refuses the calls that the architecture has.
func deny(info *arch.Info, names []string) seccomp.SyscallGroup {
	group := seccomp.SyscallGroup{Action: errno(unix.EPERM)}
	for _, name := range names {
		if _, ok := info.SyscallNames[name]; ok {
			group.Names = append(group.Names, name)
		}
	}
	return group
}

// lateGroups also refuses clone with new namespaces. clone3 passes its flags
// in memory, where a filter cannot see them: ENOSYS makes the C library fall
// back to clone.
func lateGroups(info *arch.Info) []seccomp.SyscallGroup {
	always := deny(info, refusedLate[:])
	always.NamesWithCondtions = []seccomp.NameWithConditions{{
		Name:       "clone",
		Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet, Value: newNamespaces}},
	}}
	absent := seccomp.SyscallGroup{Action: errno(unix.ENOSYS), Names: []string{"clone3"}}
	return []seccomp.SyscallGroup{always, absent}
}

func errno(e unix.Errno) seccomp.Action {
	return seccomp.ActionErrno&^0xffff | seccomp.Action(e)
}

// prologue closes two holes that the policy language leaves: calls through
// another architecture's entry, which the assembled policy lets pass by its
// default action, and socket's family, an int of which the upper half of the
// register is ignored by the kernel but not by the policy.
func prologue(info *arch.Info) []bpf.Instruction {
	const nr, archField, arg0 = 0, 4, 16
	eperm := bpf.RetConstant{Val: uint32(errno(unix.EPERM))}
	low := uint32(arg0)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		low += 4
	}
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: archField, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		eperm,
		bpf.LoadAbsolute{Off: nr, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.SyscallNames["socket"]), SkipFalse: 4},
		bpf.LoadAbsolute{Off: low, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: familyALG, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: familyVsock, SkipFalse: 1},
		eperm,
	}
}
