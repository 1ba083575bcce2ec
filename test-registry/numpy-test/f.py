"""Sums event (a list of numbers) with numpy and answers with its version too."""

import numpy as np


def f(event):
    numbers = np.array(event if isinstance(event, list) else [], dtype=float)
    return {"result": float(numbers.sum()), "numpy": np.__version__}
