"""Answers with the version of Python that runs it, for example [3, 11, 2]."""

import sys


def f(event):
    return list(sys.version_info[:3])
