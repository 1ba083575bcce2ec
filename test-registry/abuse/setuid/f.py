"""Tries to become somebody: set-user-id files, capabilities, user ids."""

import os
import shutil
import subprocess

from attempt import outcome, run, syscall, write

HEADER = (0x20080522).to_bytes(4, "little") + bytes(4)


def set_user_id(path):
    """Makes a set-user-id copy of id and sees whom it runs as."""
    shutil.copy("/usr/bin/id", path)
    os.chmod(path, 0o6755)
    return subprocess.run([path, "-u"], capture_output=True, text=True).stdout.strip()


def program(*line):
    """Runs a program that is set-user-id on many machines."""
    if subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True).returncode != 0:
        raise PermissionError(1, line[0])


def status(key):
    with open("/proc/self/status") as file:
        return next(line.split()[1] for line in file if line.startswith(key))


def f(event):
    answer = run({
        "setuid 0": lambda: os.setuid(0),
        "setresuid 0": lambda: os.setresuid(0, 0, 0),
        "setgid 0": lambda: os.setgid(0),
        "setgroups": lambda: os.setgroups([0]),
        "capset": lambda: syscall(126, HEADER, b"\xff" * 24),
        "ambient": lambda: syscall(157, 47, 2, 21, 0, 0),
        "keep capabilities": lambda: syscall(157, 28, 1 << 4, 0, 0, 0),
        "new privileges": lambda: syscall(157, 38, 0, 0, 0, 0),
        "file capability": lambda: (open("/tmp/c", "w").close(), os.setxattr("/tmp/c", "security.capability", b"\1\0\0\2" + b"\xff" * 16)),
        "give away": lambda: (open("/tmp/g", "w").close(), os.chown("/tmp/g", 0, 0)),
        "su": lambda: program("su", "-c", "true"),
        "mount": lambda: program("mount", "-t", "tmpfs", "none", "/tmp"),
        "sudo": lambda: program("sudo", "-n", "true"),
        "uid map": lambda: write("/proc/self/uid_map", "0 0 1"),
    })
    own = str(os.getuid())
    for path in ("/tmp/id", "/host/id", "/dev/shm/id"):
        who = []
        answer["set-user-id in " + path] = outcome(lambda: who.append(set_user_id(path)))
        if who:
            answer["set-user-id in " + path] = "as itself" if who == [own] else "as " + who[0]
    answer["capabilities"] = " ".join(status(k) for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"))
    answer["no_new_privs"] = status("NoNewPrivs")
    return answer
