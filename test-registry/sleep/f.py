"""Sleeps event["ms"] milliseconds (default 0) and answers with that number."""

import time


def f(event):
    ms = event.get("ms", 0)
    time.sleep(ms / 1000)
    return ms
