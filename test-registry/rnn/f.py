"""Runs a recurrent network of event["hidden"] units (default 32) for event["size"]
steps (default 100) in plain Python, feeding each letter that it says back to it.

Its weights are random, but the same each time. Answers with the letters, which
begin with event["start"] (default "a").
"""

import math
import random

LETTERS = "abcdefghijklmnopqrstuvwxyz "


def matrix(generator, rows, columns):
    return [[generator.gauss(0, 1 / math.sqrt(columns)) for _ in range(columns)] for _ in range(rows)]


def times(rows, vector):
    return [sum(x * y for x, y in zip(row, vector)) for row in rows]


class Network:
    def __init__(self, hidden):
        generator = random.Random(1)
        self.inward = matrix(generator, len(LETTERS), hidden)
        self.around = matrix(generator, hidden, hidden)
        self.outward = matrix(generator, len(LETTERS), hidden)
        self.state = [0.0] * hidden

    def step(self, letter):
        """Takes in the number of a letter and returns that of the next."""
        kept = times(self.around, self.state)
        self.state = [math.tanh(3 * a + 1.5 * b) for a, b in zip(self.inward[letter], kept)]
        scores = times(self.outward, self.state)
        return max(range(len(scores)), key=scores.__getitem__)


def f(event):
    network = Network(event.get("hidden", 32))
    said = event.get("start", "a")
    while len(said) < event.get("size", 100):
        said += LETTERS[network.step(LETTERS.index(said[-1]))]
    return said
