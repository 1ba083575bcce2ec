"""A lambda whose initialisation costs what its environment says.

OL_INIT_MS      milliseconds that initialisation takes in all (default 0);
                what the imports leave of it is spent busy
OL_INIT_IMPORTS modules to import, separated by commas (default none)
OL_HOLD_MB      MB of memory that it holds from then on (default 0)

A call sleeps event["ms"] milliseconds (default 0), which stands for the
execution time of a traced function, and answers with how initialisation went.
"""

import importlib
import os
import time

BEGAN = time.perf_counter()


def hold(mb):
    """mb MB whose every page is really there."""
    block = bytearray(mb << 20)
    block[::4096] = b"x" * len(block[::4096])
    return block


def busy_until(moment):
    """Uses the processor until perf_counter() reaches moment."""
    while time.perf_counter() < moment:
        pass


for name in filter(None, os.environ.get("OL_INIT_IMPORTS", "").split(",")):
    importlib.import_module(name.strip())
IMPORTED = time.perf_counter()
HELD = hold(int(os.environ.get("OL_HOLD_MB", "0")))
busy_until(BEGAN + float(os.environ.get("OL_INIT_MS", "0")) / 1000)
READY = time.perf_counter()


def f(event):
    ms = event.get("ms", 0)
    time.sleep(ms / 1000)
    return {
        "ms": ms,
        "init_ms": round((READY - BEGAN) * 1000, 3),
        "import_ms": round((IMPORTED - BEGAN) * 1000, 3),
        "hold_mb": len(HELD) >> 20,
    }
