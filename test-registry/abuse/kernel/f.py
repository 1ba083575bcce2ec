"""Tries to read from and write to the kernel: /proc, /sys, keys, logs, tracing."""

import os

from attempt import read, run, syscall, write

SECRET = ["kcore", "kmsg", "keys", "timer_list", "sched_debug", "slabinfo", "vmallocinfo", "pagetypeinfo", "kpagecount", "1/root/etc/shadow", "1/mem"]
KNOBS = ["sysrq-trigger", "sys/kernel/core_pattern", "sys/kernel/hostname", "sys/kernel/modprobe", "sys/kernel/randomize_va_space",
         "sys/vm/overcommit_memory", "sys/vm/drop_caches", "sys/net/ipv4/ip_forward", "sys/fs/file-max", "sys/kernel/ns_last_pid",
         "sys/kernel/pid_max", "sys/kernel/yama/ptrace_scope", "irq/0/smp_affinity", "mtrr", "acpi/wakeup", "fs/xfs/stat"]
SYS = ["fs/cgroup", "kernel/uevent_helper", "kernel/debug", "kernel/security", "power/state", "firmware", "module", "class/net", "devices", "block"]


def addresses():
    """Are the kernel's addresses shown?"""
    shown(read("/proc/kallsyms"))


def physical():
    """Are the machine's addresses shown?"""
    shown(read("/proc/iomem"))


def shown(text):
    if int(text.split(b" ")[0].split(b"-")[0], 16) == int(text.splitlines()[-2].split()[0].split(b"-")[0], 16) == 0:
        raise PermissionError(13, "zeros")


def oom():
    write("/proc/self/oom_score_adj", "-1000")


def f(event):
    attempts = {"kallsyms": addresses, "iomem": physical, "never out of memory": oom}
    for name in SECRET:
        attempts["read /proc/" + name] = lambda name=name: read("/proc/" + name)
    for name in KNOBS:
        attempts["write /proc/" + name] = lambda name=name: write("/proc/" + name, "1")
    for name in SYS:
        attempts["see /sys/" + name] = lambda name=name: os.stat("/sys/" + name)
    attempts["add_key"] = lambda: syscall(248, b"user", b"k", b"v", 1, -3)
    attempts["request_key"] = lambda: syscall(249, b"user", b"k", 0, -3)
    attempts["keyctl session"] = lambda: syscall(250, 0, -3, 1)
    attempts["keyctl read"] = lambda: syscall(250, 11, -3, 0, 0)
    attempts["bpf"] = lambda: syscall(321, 0, 0, 0)
    attempts["perf_event_open"] = lambda: syscall(298, 0, 0, -1, -1, 0)
    attempts["userfaultfd"] = lambda: syscall(323, 0)
    attempts["io_uring_setup"] = lambda: syscall(425, 1, 0)
    attempts["syslog"] = lambda: syscall(103, 3, 0, 0)
    attempts["init_module"] = lambda: syscall(175, 0, 0, b"")
    attempts["finit_module"] = lambda: syscall(313, 0, b"", 0)
    attempts["kexec_load"] = lambda: syscall(246, 0, 0, 0, 0)
    attempts["reboot"] = lambda: syscall(169, -18751827, 672274793, 0, 0)
    attempts["swapon"] = lambda: syscall(167, b"/tmp", 0)
    attempts["settimeofday"] = lambda: syscall(164, b"\0" * 16, 0)
    attempts["clock_settime"] = lambda: syscall(227, 0, b"\0" * 16)
    attempts["sethostname"] = lambda: syscall(170, b"x", 1)
    attempts["iopl"] = lambda: syscall(172, 3)
    attempts["acct"] = lambda: syscall(163, b"/tmp/acct")
    attempts["quotactl"] = lambda: syscall(179, 0, 0, 0, 0)
    attempts["fanotify_init"] = lambda: syscall(300, 0, 0)
    attempts["vhangup"] = lambda: syscall(153)
    attempts["nice"] = lambda: os.nice(-5)
    attempts["real time"] = lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    answer = run(attempts)
    answer["/sys"] = " ".join(sorted(os.listdir("/sys")))
    return answer
