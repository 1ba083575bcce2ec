"""A lambda whose initialisation costs as much as its environment says.

OL_INIT_IMPORTS  modules to import, separated by commas
OL_INIT_MS       processor time of the initialisation, imports included
OL_HOLD_MB       memory to keep in use

A call takes event["ms"] milliseconds without using the processor.
"""

import importlib
import os
import time

_begin = time.thread_time()


def _initialise():
    for name in filter(None, os.environ.get("OL_INIT_IMPORTS", "").split(",")):
        importlib.import_module(name)
    held = bytearray(int(os.environ.get("OL_HOLD_MB", "0")) << 20)
    for page in range(0, len(held), 4096):
        held[page] = 1
    end = _begin + float(os.environ.get("OL_INIT_MS", "0")) / 1000
    while time.thread_time() < end:
        pass
    return held


_held = _initialise()


def f(event):
    time.sleep(event["ms"] / 1000)
    return {"ms": event["ms"], "held_mb": len(_held) >> 20}
