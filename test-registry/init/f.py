"""A lambda whose initialisation costs what its environment says.

OL_INIT_MS      milliseconds that initialisation takes in all (default 0);
                what the imports leave of it is spent busy
OL_INIT_SIGMA   spreads it: each sandbox takes OL_INIT_MS times a log-normal
                factor of its own with this sigma and median 1 (default 0)
OL_INIT_IDLE    if set, that rest is spent asleep instead
OL_INIT_IMPORTS modules to import, separated by commas (default none)
OL_HOLD_MB      MB of memory that it holds from then on (default 0)

A call sleeps event["ms"] milliseconds (default 0), which stands for the
execution time of a traced function, or uses the processor for so long if
event["busy"] is true. It answers with how initialisation went.
"""

import importlib
import math
import os
import time

BEGAN = time.perf_counter()


def hold(mb):
    """mb MB whose every page is really there."""
    block = bytearray(mb << 20)
    block[::4096] = b"x" * len(block[::4096])
    return block


def drawn(sigma):
    """A log-normal factor with median 1. The kernel draws it: the state of
    random may be that of the process that this one was forked from."""
    u, v = ((int.from_bytes(os.urandom(6), "big") + 1) / 2**48 for _ in range(2))
    return math.exp(sigma * math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v))


def busy_until(moment):
    """Uses the processor until perf_counter() reaches moment."""
    while time.perf_counter() < moment:
        pass


def spend(seconds):
    """Uses so much processor time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


for name in filter(None, os.environ.get("OL_INIT_IMPORTS", "").split(",")):
    importlib.import_module(name.strip())
IMPORTED = time.perf_counter()
HELD = hold(int(os.environ.get("OL_HOLD_MB", "0")))
END = BEGAN + float(os.environ.get("OL_INIT_MS", "0")) / 1000 * drawn(float(os.environ.get("OL_INIT_SIGMA", "0")))
if os.environ.get("OL_INIT_IDLE"):
    time.sleep(max(0, END - time.perf_counter()))
busy_until(END)
READY = time.perf_counter()


def f(event):
    ms = event.get("ms", 0)
    if event.get("busy"):
        spend(ms / 1000)
    else:
        time.sleep(ms / 1000)
    return {
        "ms": ms,
        "init_ms": round((READY - BEGAN) * 1000, 3),
        "import_ms": round((IMPORTED - BEGAN) * 1000, 3),
        "hold_mb": len(HELD) >> 20,
    }
