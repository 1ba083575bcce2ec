"""Turns a process in fresh namespaces into an unprivileged sandbox.

The process starts as root, pid 1 of its own pid namespace, in a copy of the
read-only base root's mount namespace. isolate() gives it what is private to a
sandbox; attach() hangs in directories of the host that arrive as detached
mounts; limit(), then drop(), give up every privilege, for good.
"""

import ctypes
import os
import resource
import socket
import struct

# Calls hold the interpreter lock: a fork in another thread must not happen here.
libc = ctypes.PyDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.prctl.argtypes = [ctypes.c_int] + 4 * [ctypes.c_ulong]

SYS_CAPSET = 126 if os.uname().machine == "x86_64" else 91
SYS_MOVE_MOUNT = 429
SYS_CLOSE_RANGE = 436

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND = 32, 4096
MOVE_MOUNT_F_EMPTY_PATH = 4

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
SECCOMP_MODE_FILTER = 2
SIGKILL = 9

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000

# What a zygote that is the host's root makes children with.
CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_NET_ADMIN, CAP_SYS_ADMIN = 6, 7, 8, 12, 21
CAPABILITY_VERSION_3 = 0x20080522

EARLY, LATE = "/runtime/early.bpf", "/runtime/late.bpf"

# What anybody may read and a sandbox has no business with. All else in /proc
# that tells of, or acts on, the host is for root, which no sandbox has.
MASKED_FILES = ("keys", "kallsyms", "latency_stats", "sched_debug")
MASKED_DIRS = ("acpi", "scsi", "asound")
EMPTY_DIR = "/sys"  # of the base root


class Jail(OSError):
    """A step of the set-up that failed."""


def _check(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise Jail(number, "%s: %s" % (what, os.strerror(number)))
    return result


def mount(source, target, kind, flags, data=""):
    """mount(2); kind and data may be empty."""
    _check(
        libc.mount(source.encode(), target.encode(), kind.encode() or None,
                   ctypes.c_ulong(flags), data.encode() or None),
        "mount " + target,
    )


def prctl(option, value, other=0):
    """prctl(2) with the rest of the arguments zero."""
    return libc.prctl(option, value, other, 0, 0)


def close_range(first, last):
    """Close descriptors first..last; a kernel without the call closes one by one."""
    if libc.syscall(SYS_CLOSE_RANGE, ctypes.c_uint(first), ctypes.c_uint(last), ctypes.c_uint(0)) < 0:
        os.closerange(first, min(last, 4096) + 1)


def isolate(conf):
    """Mount what is private to the sandbox. conf: tmp_mb, shm_mb, network, loopback."""
    guarded = MS_NOSUID | MS_NODEV
    mount("proc", "/proc", "proc", guarded | MS_NOEXEC)
    mount("tmp", "/tmp", "tmpfs", guarded, "mode=1777,size=%dm" % conf["tmp_mb"])
    mount("shm", "/dev/shm", "tmpfs", guarded | MS_NOEXEC, "mode=1777,size=%dm" % conf["shm_mb"])
    _mask()
    _resolve(conf["network"])
    if conf["loopback"]:
        _raise_loopback()


def _mask():
    for names, cover in ((MASKED_FILES, "/dev/null"), (MASKED_DIRS, EMPTY_DIR)):
        for name in names:
            path = "/proc/" + name
            if os.path.exists(path):
                mount(cover, path, "", MS_BIND)


def _resolve(network):
    """Show how the network looks names up, where the base has a file for it."""
    for name in ("resolv.conf", "hosts"):
        source, target = "/runtime/net/%s/%s" % (network, name), "/etc/" + name
        if os.path.exists(source) and os.path.isfile(target) and not os.path.islink(target):
            mount(source, target, "", MS_BIND)


def _raise_loopback():
    import fcntl

    get_flags, set_flags, up = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        request = struct.pack("16sh22x", b"lo", 0)
        flags = struct.unpack_from("h", fcntl.ioctl(s, get_flags, request), 16)[0]
        fcntl.ioctl(s, set_flags, struct.pack("16sh22x", b"lo", flags | up))


def attach(fd, target):
    """Hang a detached mount in at target and close it."""
    result = libc.syscall(
        SYS_MOVE_MOUNT, ctypes.c_int(fd), b"", ctypes.c_int(-100), target.encode(),
        ctypes.c_uint(MOVE_MOUNT_F_EMPTY_PATH),
    )
    _check(result, "move mount to " + target)
    os.close(fd)


def attach_packages(names, fds):
    """Hang package directories in below /packages, each under its name.

    A package has the same path in every sandbox, so that a module that was
    imported before a fork finds the rest of its package after it.
    """
    if not fds:
        return []
    flags = MS_NOSUID | MS_NODEV
    mount("packages", "/packages", "tmpfs", flags, "mode=755,size=64k")
    paths = []
    for name, fd in zip(names, fds):
        path = "/packages/" + name
        os.mkdir(path, 0o755)
        attach(fd, path)
        paths.append(path)
    mount("", "/packages", "", MS_BIND | MS_REMOUNT | MS_RDONLY | flags)
    return paths


_filters = {}


def filters():
    """The seccomp programs that the worker assembled, by path; b"" where off."""
    for path in (EARLY, LATE):
        if path not in _filters:
            try:
                with open(path, "rb") as f:
                    _filters[path] = f.read()
            except FileNotFoundError:
                _filters[path] = b""
    return _filters


def limit():
    """Give up, for good, what neither a zygote nor a child needs.

    A zygote does so once for all its children: dropping the bounding set and
    installing the filter take longer than the rest of a child's set-up.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    forgo()
    _check(prctl(PR_SET_NO_NEW_PRIVS, 1), "set no_new_privs")
    _install(filters()[EARLY])


def confine():
    """Give up, for good, what a zygote needs and a child does not."""
    _install(filters()[LATE])


def forgo():
    """Drop the bounding set, which is whole again in each new user namespace."""
    capability = 0
    while prctl(PR_CAPBSET_DROP, capability) == 0:
        capability += 1


def keep(*capabilities):
    """Give up every capability but these."""
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    low = sum(1 << c for c in capabilities)
    data = struct.pack("6I", low, low, 0, 0, 0, 0)
    _check(libc.syscall(SYS_CAPSET, header, data), "give up capabilities")


def join_realm(fd, alone):
    """Leave the host's root for the root of a user namespace, for good.

    Everything that belongs to a namespace is new, for what is left of the old
    ones is out of reach; the network only with alone.
    """
    _check(libc.setns(fd, CLONE_NEWUSER), "join user namespace")
    os.close(fd)
    flags = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | (CLONE_NEWNET if alone else 0)
    _check(libc.unshare(flags), "leave the host's namespaces")
    become_root()
    _check(prctl(PR_SET_PDEATHSIG, SIGKILL), "set death signal")


def network():
    """A descriptor of the network namespace that this process is in."""
    return os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def new_network():
    """Move into a new network namespace; a descriptor of it."""
    _check(libc.unshare(CLONE_NEWNET), "make network namespace")
    return network()


def join_network(fd):
    """Move into a network namespace."""
    _check(libc.setns(fd, CLONE_NEWNET), "join network namespace")


def map_ids(pid, first, count):
    """Map the ids from 0 of a child's user namespace to ours from first."""
    text = b"0 %d %d" % (first, count)
    for name in ("uid_map", "gid_map"):
        fd = os.open("/proc/%d/%s" % (pid, name), os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, text)
        finally:
            os.close(fd)


def become_root():
    """Take on the root of a user namespace that was entered as somebody else."""
    become(0)
    _check(prctl(PR_SET_DUMPABLE, 1), "set dumpable")  # else /proc/<pid> is the host's root's


def become(uid):
    """Take on a user and its group, and no other group."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def drop(uid):
    """Become uid without any capability, for good."""
    become(uid)
    seal()


def seal():
    """What is left to do as the lambda's user, before any of its code runs."""
    # Changing the uid cleared both; the first would leave orphans, the second
    # takes /proc/self away from its owner.
    _check(prctl(PR_SET_PDEATHSIG, SIGKILL), "set death signal")
    _check(prctl(PR_SET_DUMPABLE, 1), "set dumpable")


def _install(program):
    if not program:
        return
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    buffer = ctypes.create_string_buffer(header, len(header))
    _check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(buffer)), "install seccomp filter")
