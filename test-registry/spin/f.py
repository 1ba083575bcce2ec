"""Uses the processor for event["ms"] milliseconds of its own time (default 0)."""

import time


def f(event):
    ms = event.get("ms", 0)
    end = time.thread_time() + ms / 1000
    rounds = 0
    while time.thread_time() < end:
        rounds += 1
    return rounds
