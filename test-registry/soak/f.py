"""Does what event["do"] says, having printed event["id"]: for loads that run long.

Every answer carries the id, so that whoever sent it can tell it from others'.
"""

import os
import time


def echo(event):
    return {"id": event["id"], "pad": event.get("pad", ""), "version": os.environ.get("VERSION", "")}


def sleep(event):
    time.sleep(event["ms"] / 1000)
    return echo(event)


def stream(event):
    for number in range(event["lines"]):
        yield "%s %d\n" % (event["id"], number)


def fill(event):
    """Takes memory until there is none."""
    held = []
    while True:
        block = bytearray(1 << 20)
        block[::4096] = b"x" * (len(block) // 4096)  # a page counts once it is written
        held.append(block)


def leave(event):
    os._exit(3)


def fail(event):
    raise ValueError(event["id"])


ACTIONS = {"echo": echo, "sleep": sleep, "stream": stream, "fill": fill, "leave": leave, "fail": fail}


def f(event):
    print("ran " + event["id"], flush=True)
    return ACTIONS[event["do"]](event)
