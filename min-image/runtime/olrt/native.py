"""Lambdas that are programs: any executable that serves HTTP/1.1 on the unix
socket named by OL_SOCKET in its environment.

The process that was to become a lambda executes the program in its place, in
the same sandbox and with the same limits; nothing of Python stays. Who talks
to the lambda finds out by connecting when it serves.
"""

import os
import signal

NAMES = ("f.bin", "bootstrap")  # files that are programs


def named(entry, env):
    """Whether the lambda's entry file is a program."""
    return os.path.basename(env.get("OL_ENTRY_FILE") or entry) in NAMES


def execute(handler_dir, entry, env, socket_path):
    """Becomes the program. Returns only by an OSError that says why not.

    socket_path is where it shall listen; what is there goes.
    """
    path = os.path.join(handler_dir, env.get("OL_ENTRY_FILE") or entry)
    if os.path.lexists(socket_path):
        os.unlink(socket_path)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python
        signal.signal(ignored, signal.SIG_DFL)
    os.execve(path, [path], {**env, "OL_SOCKET": socket_path})
