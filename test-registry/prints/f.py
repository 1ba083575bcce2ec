"""Prints event["lines"] numbered lines (default 3) of event["width"] characters
(default 20) to stdout, one to stderr, and answers with the number of lines."""

import sys


def f(event):
    lines = event.get("lines", 3)
    width = event.get("width", 20)
    for number in range(lines):
        print(("line %d " % number).ljust(width, "."))
    print("to stderr", file=sys.stderr)
    return lines
