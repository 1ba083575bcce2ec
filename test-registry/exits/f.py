"""Exits: by sys.exit(event["code"]) (default 3), which the runtime outlives, or
with event["hard"] by os._exit, which ends the sandbox.

With OL_EXIT in its environment it exits with that code while being loaded.
"""

import os
import sys

if "OL_EXIT" in os.environ:
    sys.exit(int(os.environ["OL_EXIT"]))


def f(event):
    code = event.get("code", 3)
    if event.get("hard"):
        os._exit(code)
    sys.exit(code)
