"""Tries the syslog system call (number 103 on x86-64).

Answers -1 where it is forbidden (by seccomp, or by kernel.dmesg_restrict for a
process without CAP_SYSLOG) and 0 where it succeeds.
"""

import ctypes

SYSLOG = 103
READ_ALL = 3  # with a length of 0: reads nothing, and is free for all if not restricted


def f(event):
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(1)
    return libc.syscall(SYSLOG, READ_ALL, buffer, 0)
