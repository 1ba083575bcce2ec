"""Kills its own process with signal event["signal"] (default 9)."""

import os


def f(event):
    os.kill(os.getpid(), event.get("signal", 9))
    return "survived"
