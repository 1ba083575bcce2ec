"""Fits a logistic regression in plain Python to event["size"] points (default 200) of
two kinds, by event["rounds"] rounds of gradient descent (default 50).

The kinds lie on either side of the line y = x. Answers with the share of points
that the model tells apart, the direction of its boundary and what it thinks of
event["points"], a list of pairs (default none).
"""

import math
import random


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else 1 - 1 / (1 + math.exp(x))


def points(n):
    generator = random.Random(1)
    for _ in range(n):
        x, kind = generator.uniform(-1, 1), generator.randrange(2)
        yield x, x + (0.1 + generator.random()) * (1 if kind else -1), kind


def fit(data, rounds, rate=0.5):
    a = b = c = 0.0
    for _ in range(rounds):
        for x, y, kind in data:
            error = kind - sigmoid(a * x + b * y + c)
            a, b, c = a + rate * error * x, b + rate * error * y, c + rate * error
    return a, b, c


def f(event):
    data = list(points(event.get("size", 200)))
    a, b, c = fit(data, event.get("rounds", 50))
    right = sum((a * x + b * y + c > 0) == bool(kind) for x, y, kind in data)
    return {
        "accuracy": round(right / len(data), 3),
        "slope": round(-a / b, 1),
        "kinds": [int(a * x + b * y + c > 0) for x, y in event.get("points", [])],
    }
