"""Tries what a sandbox has to refuse, and names what came of it.

It is put beside each of the lambdas of this directory.
"""

import ctypes
import errno
import os
import signal

LIBC = ctypes.CDLL(None, use_errno=True)


def outcome(call):
    """Returns "done", or the name of the error that refused the call."""
    try:
        call()
        return "done"
    except OSError as e:
        return errno.errorcode.get(e.errno, type(e).__name__)
    except Exception as e:  # the answer says what it was
        return type(e).__name__


def syscall(*args):
    """Makes a system call by number; the C library may not know it."""
    result = LIBC.syscall(*(ctypes.c_long(a) if isinstance(a, int) else a for a in args))
    if result < 0:
        raise OSError(ctypes.get_errno(), "syscall")
    return result


def write(path, text="x"):
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def read(path):
    """Reads a file, which must have something in it."""
    with open(path, "rb") as f:
        text = f.read(4096)
    if not text.strip(b"\0"):
        raise FileNotFoundError(errno.ENODATA, path)
    return text


def in_child(call):
    """Runs call in a child process; returns its outcome, or how it died."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        os.write(writer, outcome(call).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as f:
        said = f.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return said


def run(attempts):
    """Returns the outcome of each of the named calls."""
    return {name: outcome(call) for name, call in attempts.items()}
