"""Answers with its complete environment."""

import os


def f(event):
    return dict(os.environ)
