"""Answers with event["bytes"] bytes (default 1 MB) as application/octet-stream."""


def f(event):
    return b"x" * event.get("bytes", 1 << 20)
