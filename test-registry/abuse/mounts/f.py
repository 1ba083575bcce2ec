"""Tries to mount, to unmount, to change its root and to make namespaces."""

import ctypes
import os

from attempt import in_child, run, syscall

NEW = {"mnt": 0x20000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000, "cgroup": 0x2000000}
AT_FDCWD, RECURSIVE = -100, 0x1000
BIND, REMOUNT, PRIVATE = 4096, 32, 1 << 18


def mount(source, target, kind, flags=0, data=None):
    return lambda: syscall(165, source, target, kind, flags, data or 0)


def by_handle():
    """Opens the root of the file system that /tmp is on by its number."""
    handle = ctypes.create_string_buffer(b"\x08\0\0\0\1\0\0\0" + b"\2\0\0\0\0\0\0\0", 16)
    fd = os.open("/usr", os.O_RDONLY)
    syscall(304, fd, handle, os.O_RDONLY)


def f(event):
    attempts = {
        "bind": mount(b"/usr", b"/tmp", b"none", BIND),
        "proc": mount(b"proc", b"/tmp", b"proc"),
        "sysfs": mount(b"sys", b"/tmp", b"sysfs"),
        "tmpfs": mount(b"none", b"/tmp", b"tmpfs"),
        "cgroup2": mount(b"none", b"/tmp", b"cgroup2"),
        "overlay": mount(b"none", b"/tmp", b"overlay", 0, b"lowerdir=/usr,upperdir=/tmp,workdir=/tmp"),
        "root writable": mount(b"none", b"/", b"none", REMOUNT | BIND),
        "propagation": mount(b"none", b"/", b"none", PRIVATE),
        "umount /proc": lambda: syscall(166, b"/proc", 2),
        "umount /tmp": lambda: syscall(166, b"/tmp", 2),
        "pivot_root": lambda: syscall(155, b"/tmp", b"/tmp"),
        "chroot": lambda: os.chroot("/tmp"),
        "open_tree": lambda: syscall(428, AT_FDCWD, b"/", 1),
        "move_mount": lambda: syscall(429, AT_FDCWD, b"/usr", AT_FDCWD, b"/tmp", 0),
        "fsopen": lambda: syscall(430, b"tmpfs", 0),
        "fspick": lambda: syscall(433, AT_FDCWD, b"/", 0),
        "mount_setattr": lambda: syscall(442, AT_FDCWD, b"/", RECURSIVE, b"\0" * 32, 32),
        "open_by_handle_at": by_handle,
        "clone3": lambda: syscall(435, b"\0" * 64, 64),
        "setns own": lambda: syscall(308, os.open("/proc/self/ns/mnt", os.O_RDONLY), 0),
    }
    for name, flag in NEW.items():
        attempts["unshare " + name] = lambda flag=flag: syscall(272, flag)
        attempts["clone " + name] = lambda flag=flag: syscall(56, flag | 17, 0, 0, 0, 0)
    answer = run(attempts)
    # The classic way out: a root within the root, then up and up.
    answer["chroot twice"] = in_child(lambda: (os.mkdir("/tmp/inner"), os.chroot("/tmp/inner"), os.chdir("../../../..")))
    return answer
