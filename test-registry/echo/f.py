"""Answers with what it was sent."""


def f(event):
    return event
