"""Reaps orphans.

The lambda is the first process of its pid namespace, so the kernel makes it the
parent of every process whose own parent ended. Nobody waits for such an orphan;
when it ends it would stay, and count against the limit of processes. Children
that the lambda itself began are its own to wait for, so they are remembered and
left alone. A child that native code began past Python is not told from an orphan.
"""

import _posixsubprocess  # what subprocess and multiprocessing fork with
import os
import sys

# Our first thread is who orphans are given to.
_CHILDREN = "/proc/self/task/1/children"

_own = set()  # children that the lambda began and that may still be there
_begun = []  # not empty once there was one: until then there are no orphans


def install():
    """Remember every child that begins from now on. For pid 1 only."""
    if os.getpid() != 1 or not os.path.exists(_CHILDREN):
        return
    for name in ("fork", "posix_spawn", "posix_spawnp"):
        setattr(os, name, _remembering(getattr(os, name), lambda pid: pid))
    os.forkpty = _remembering(os.forkpty, lambda pair: pair[0])
    fork_exec = _remembering(_posixsubprocess.fork_exec, lambda pid: pid)
    _posixsubprocess.fork_exec = fork_exec
    module = sys.modules.get("subprocess")
    if module is not None and hasattr(module, "_fork_exec"):
        module._fork_exec = fork_exec


def _remembering(begin, pid_of):
    def wrapped(*args, **kwargs):
        reap()
        result = begin(*args, **kwargs)
        if pid_of(result):
            _own.add(pid_of(result))
            if not _begun:
                _begun.append(True)
        return result

    wrapped.__name__ = wrapped.__qualname__ = getattr(begin, "__name__", "fork")
    wrapped.__doc__ = begin.__doc__
    return wrapped


def reap():
    """Wait for every orphan that has ended; nothing until there was a child."""
    if not _begun or os.getpid() != 1:
        return
    try:
        with open(_CHILDREN) as f:
            there = [int(pid) for pid in f.read().split()]
    except OSError:  # no descriptor is left: the next time will do
        return
    for pid in there:
        if pid not in _own:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass
    # Once waited for, a number may come back as an orphan's.
    _own.intersection_update([pid for pid in _own if os.path.exists("/proc/%d" % pid)])
