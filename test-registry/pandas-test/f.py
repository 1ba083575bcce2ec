"""Builds a table of event (a list of lists of numbers) and answers with the sum
of each column and of everything."""

import pandas as pd


def f(event):
    table = pd.DataFrame(event if isinstance(event, list) else [])
    return {"columns": [float(x) for x in table.sum()], "result": float(table.sum().sum()), "pandas": pd.__version__}
