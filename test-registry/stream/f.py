"""Streams event["lines"] lines (default 5), event["ms"] milliseconds apart (default 0)."""

import time


def f(event):
    for number in range(event.get("lines", 5)):
        if number:
            time.sleep(event.get("ms", 0) / 1000)
        yield "line %d\n" % number
