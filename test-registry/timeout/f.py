"""Sleeps event seconds (a number, 0 when absent), to outlast a limit."""

import time


def f(event):
    seconds = event if isinstance(event, (int, float)) else 0
    time.sleep(seconds)
    return seconds
