"""Everything in order: streams, load, listen, report, serve.

The report is one line on a file descriptor: "ready", or "failed" followed by
the reason in the lines after it; then the descriptor is closed.
"""

import os
import socket

from . import apps, loader, output, server


def run(listener, handler_dir, entry="f.py", handler="", env=None, packages=(),
        slots=1, max_body=64 << 20, report=-1, about=apps.NOTHING):
    """Loads the lambda and serves it on the listening socket for ever.

    report is a file descriptor or -1. Exits with code 1 when the lambda
    cannot be loaded.
    """
    out = output.Output(slots)
    out.install()
    try:
        app = loader.load(handler_dir, entry, handler, env, packages, slots, about)
    except loader.LoadError as err:
        out.flush()
        tell(report, b"failed\n" + str(err).encode("utf-8", "backslashreplace"))
        os._exit(1)
    out.flush()
    tell(report, b"ready\n")
    server.serve(listener, app, server.Options(slots, max_body), out)


def listen(path, backlog=128):
    """A listening unix-domain socket at a path that does not exist yet."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(path)
    sock.listen(backlog)
    return sock


def tell(report, message):
    """Writes the report and closes its descriptor; nothing when it is -1."""
    if report < 0:
        return
    view = memoryview(message)
    try:
        while view:
            view = view[os.write(report, view):]
    except OSError:
        pass  # the one who asked has gone; whether to live on is not ours to say
    os.close(report)
