"""Tries to see, signal, trace and meet processes that are not its own.

event: "mark" is a text; with "leave" it is left wherever another sandbox might
find it, otherwise it is looked for.
"""

import os
import resource
import signal
import socket
import time

from attempt import LIBC, outcome, run, syscall

ATTACH, SEIZE = 16, 0x4206
KEY = 0x0A0B0C0D


def leave(mark):
    """Puts mark where it would be seen if something were shared."""
    f.listener = socket.socket(socket.AF_UNIX)
    f.listener.bind("\0" + mark)
    f.listener.listen()
    segment = LIBC.shmget(KEY, 4096, 0o1666)
    for path in ("/dev/shm/" + mark, "/tmp/" + mark, "/host/" + mark):
        with open(path, "w") as file:
            file.write(mark)
    return {"left": "done" if segment >= 0 else "failed"}


def look(mark):
    def connect():
        with socket.socket(socket.AF_UNIX) as s:
            s.connect("\0" + mark)

    def names():
        with open("/proc/net/unix") as file:
            if mark not in file.read():
                raise FileNotFoundError(2, mark)

    def segment():
        if LIBC.shmget(KEY, 0, 0) < 0:
            raise FileNotFoundError(2, mark)

    found = {"abstract socket": connect, "names of sockets": names, "shared memory": segment}
    for path in ("/dev/shm/", "/tmp/", "/host/"):
        found["file in " + path] = lambda path=path: os.stat(path + mark)
    return run(found)


def f(event):
    if event.get("leave"):
        # A second call finds what the first left, unless somebody killed it.
        return {"left": "still here"} if hasattr(f, "listener") else leave(event["mark"])
    answer = look(event["mark"])
    attempts = {"parent": lambda: os.kill(os.getppid(), 0) if os.getppid() else os.stat("/no-parent")}
    attempts["ptrace parent"] = lambda: syscall(101, ATTACH, os.getppid() or 2, 0, 0)
    for pid in (2, 3, 100, 1000, 4000):
        attempts["signal %d" % pid] = lambda pid=pid: os.kill(pid, 0)
    answer.update(run(attempts))
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    attempts = {}
    # Not even its own: what may trace a sibling can trace whoever joins later.
    attempts["ptrace"] = lambda: syscall(101, ATTACH, child, 0, 0)
    attempts["seize"] = lambda: syscall(101, SEIZE, child, 0, 0)
    attempts["process_vm_readv"] = lambda: syscall(310, child, 0, 0, 0, 0, 0)
    attempts["process_vm_writev"] = lambda: syscall(311, child, 0, 0, 0, 0, 0)
    attempts["pidfd_getfd"] = lambda: syscall(438, os.pidfd_open(child), 0, 0)
    attempts["kcmp"] = lambda: syscall(312, 1, child, 0, 0, 0)
    attempts["give limits"] = lambda: resource.prlimit(4000, resource.RLIMIT_CPU, (1, 1))
    attempts["slow down"] = lambda: os.setpriority(os.PRIO_PROCESS, 4000, 19)
    attempts["move"] = lambda: os.sched_setaffinity(4000, {0})
    answer.update(run(attempts))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    # All that it may signal; the one that left its mark may not be among them.
    answer["kill everybody"] = outcome(lambda: os.kill(-1, signal.SIGKILL))
    answer["processes"] = str(len([n for n in os.listdir("/proc") if n.isdigit()]))
    return answer
