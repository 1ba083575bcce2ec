"""The smallest lambda."""


def f(event):
    return "hello"
