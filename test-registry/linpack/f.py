"""Solves event["size"] linear equations (default 100) with numpy.

The matrix is random, but the same each time; the right side is chosen so that
every unknown is 1. Answers with the largest error, and whether it is as small as
double precision promises, and with the millions of operations a second.
"""

import time

import numpy as np


def f(event):
    n = event.get("size", 100)
    matrix = np.random.default_rng(1).random((n, n)) - 0.5
    right = matrix.sum(axis=1)
    begin = time.perf_counter()
    solution = np.linalg.solve(matrix, right)
    took = time.perf_counter() - begin
    error = float(np.abs(solution - 1).max())
    operations = 2 * n**3 / 3 + 2 * n**2
    return {"size": n, "error": error, "exact": error < 1e-8 * n, "mflops": round(operations / took / 1e6, 1)}
