"""Tries to make device nodes and to open those of the machine."""

import os
import stat

from attempt import read, run, write

MACHINE = ["mem", "kmem", "port", "kmsg", "sda", "vda", "xvda", "nvme0n1", "loop0", "loop-control", "kvm", "fuse", "net/tun",
           "vhost-net", "console", "tty0", "ptmx", "input/event0", "mapper/control", "cpu/0/msr", "autofs", "rtc0", "watchdog"]


def f(event):
    attempts = {}
    for where in ("/tmp", "/host", "/dev/shm", "/dev"):
        attempts["block device in " + where] = lambda w=where: os.mknod(w + "/disk", 0o660 | stat.S_IFBLK, os.makedev(8, 0))
        attempts["character device in " + where] = lambda w=where: os.mknod(w + "/mem", 0o660 | stat.S_IFCHR, os.makedev(1, 1))
    attempts["write /dev/full"] = lambda: write("/dev/full")
    attempts["remove /dev/null"] = lambda: os.unlink("/dev/null")
    attempts["mode of /dev/null"] = lambda: os.chmod("/dev/null", 0)
    attempts["terminal"] = lambda: read("/dev/tty")
    for name in MACHINE:
        attempts[name] = lambda name=name: read("/dev/" + name)
    answer = run(attempts)
    answer["listing"] = " ".join(sorted(os.listdir("/dev")))
    return answer
