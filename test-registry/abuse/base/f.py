"""Tries to change what other sandboxes see too: base, runtime, code, packages."""

import ctypes
import mmap
import os

from attempt import LIBC, run, write

DIRS = ["/", "/usr", "/usr/bin", "/usr/lib", "/etc", "/bin", "/lib", "/runtime", "/runtime/olrt", "/handler", "/packages", "/dev", "/run", "/sys"]
FILES = ["/usr/bin/env", "/etc/passwd", "/etc/hosts", "/runtime/olrt/__init__.py", "/handler/f.py"]


LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def make(path):
    os.close(os.open(path + "/ol-abuse", os.O_CREAT | os.O_WRONLY))


def reopen(path):
    """Opens for writing what is open for reading."""
    fd = os.open(path, os.O_RDONLY)
    os.close(os.open("/proc/self/fd/%d" % fd, os.O_WRONLY))


def mapped(path):
    """Maps a file for reading and makes its pages writable then."""
    fd = os.open(path, os.O_RDONLY)
    at = LIBC.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    if LIBC.mprotect(ctypes.c_void_p(at), 4096, mmap.PROT_READ | mmap.PROT_WRITE) < 0:
        raise OSError(ctypes.get_errno(), path)


def f(event):
    attempts = {}
    for path in DIRS:
        attempts["make in " + path] = lambda path=path: make(path)
    for path in FILES:
        attempts["write " + path] = lambda path=path: write(path)
        attempts["reopen " + path] = lambda path=path: reopen(path)
        attempts["map " + path] = lambda path=path: mapped(path)
        attempts["remove " + path] = lambda path=path: os.unlink(path)
        attempts["mode of " + path] = lambda path=path: os.chmod(path, 0o777)
        attempts["owner of " + path] = lambda path=path: os.chown(path, os.getuid(), os.getgid())
        attempts["time of " + path] = lambda path=path: os.utime(path, (0, 0))
    return run(attempts)
