"""Takes event["ms"] milliseconds without using the processor."""

import time


def f(event):
    time.sleep(event["ms"] / 1000)
    return {"slept_ms": event["ms"]}
