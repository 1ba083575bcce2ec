"""Spoils what it shares with later children of its zygote, if it shares any.

event: with "spoil" it does, otherwise it tells whether somebody did.
"""

import builtins
import json
import os
import signal
import subprocess
import sys
import time

MARK = "ol-abuse-was-here"


def spoil():
    json.dumps = lambda *_, **__: '"%s"' % MARK
    builtins.open = None
    sys.path.insert(0, "/tmp")
    os.environ[MARK] = "1"
    sys.modules["random"] = None
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for fd in range(3, 64):
        try:
            os.write(fd, MARK.encode() * 100)
        except OSError:
            pass
    # A process that is nobody's child any more.
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        time.sleep(3600)


def f(event):
    if event.get("spoil"):
        spoil()
        return "spoiled"
    import random
    return {
        "json": json.dumps(["a"]), "open": type(builtins.open).__name__, "path": " ".join(p for p in sys.path if p == "/tmp"),
        "environment": os.environ.get(MARK, ""), "random": type(random).__name__,
        "processes": str(len([n for n in os.listdir("/proc") if n.isdigit()])),
        "child": subprocess.run(["/bin/echo", "hi"], capture_output=True, text=True).stdout,
    }
