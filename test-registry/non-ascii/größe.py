"""A file and names that are not ASCII."""

größe = {"ä": "ü", "日本": "語"}


def f(event):
    return größe
