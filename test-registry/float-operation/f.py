"""Adds sin, cos and square root of the whole numbers below event["size"]
(default 100000). Answers with the three sums, rounded to 6 places."""

import math


def f(event):
    numbers = range(event.get("size", 100_000))
    sums = [math.fsum(map(function, numbers)) for function in (math.sin, math.cos, math.sqrt)]
    return [round(value, 6) for value in sums]
