"""Answers how many MB it can hold at once before the memory limit stops it.

A child process allocates and tells its progress through a pipe, for what goes
over the limit is killed; the largest progress seen is the answer.
event["limit_mb"] bounds the attempt (default 1024).
"""

import os
import struct

MB = 1 << 20


def f(event):
    most = event.get("limit_mb", 1024) if isinstance(event, dict) else 1024
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        allocate(writer, most)
    os.close(writer)
    reached = 0
    with os.fdopen(reader, "rb") as pipe:
        while True:
            record = pipe.read(4)
            if len(record) < 4:
                break
            reached = struct.unpack("I", record)[0]
    os.waitpid(pid, 0)
    return reached


def allocate(writer, most):
    """Runs in the child; never returns."""
    try:
        prefer_this_process()
        held = []
        for done in range(1, most + 1):
            block = bytearray(MB)
            block[::4096] = b"x" * (MB // 4096)  # a page counts once it is written
            held.append(block)
            os.write(writer, struct.pack("I", done))
    finally:
        os._exit(0)


def prefer_this_process():
    """Asks the kernel to kill this process, not its parent, when memory ends."""
    try:
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")
    except OSError:
        pass  # it is by far the largest anyway
