"""Encrypts event["size"] bytes (default 1024) event["rounds"] times (default 1) with
AES-128 in counter mode, in plain Python.

event["key"] and event["counter"] are hexadecimal (default all zeros). The data
are the bytes 0, 1, 2, ... Answers with the ciphertext in hexadecimal, or its
SHA-256 when it is longer than 64 bytes.
"""

import hashlib

import aes


def f(event):
    key = bytes.fromhex(event.get("key", "00" * 16))
    start = bytes.fromhex(event.get("counter", "00" * 16))
    data = bytes(i % 256 for i in range(event.get("size", 1024)))
    for _ in range(event.get("rounds", 1)):
        data = aes.counter_mode(data, key, start)
    return data.hex() if len(data) <= 64 else hashlib.sha256(data).hexdigest()
