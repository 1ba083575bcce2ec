"""Computes the event["size"]-th Fibonacci number (default 20) by plain recursion,
whose time grows by 1.6 for each step of size."""


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def f(event):
    return fibonacci(event.get("size", 20))
