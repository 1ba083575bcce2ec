"""Multiplies two square matrices of event["size"] rows (default 60) in plain Python.

The entry in row i and column j is i + j in one and i - j in the other. Answers
with the sum of the product's entries and with its trace.
"""


def multiply(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def f(event):
    n = event.get("size", 60)
    a = [[i + j for j in range(n)] for i in range(n)]
    b = [[i - j for j in range(n)] for i in range(n)]
    product = multiply(a, b)
    return {"sum": sum(map(sum, product)), "trace": sum(product[i][i] for i in range(n))}
