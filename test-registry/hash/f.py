"""Hashes event["text"] (default empty) event["rounds"] times (default 1) with SHA-256."""

import hashlib


def f(event):
    digest = event.get("text", "").encode("utf-8")
    for _ in range(event.get("rounds", 1)):
        digest = hashlib.sha256(digest).digest()
    return digest.hex()
