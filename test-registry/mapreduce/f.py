"""Counts the words of event["size"] generated lines (default 1000) in the way of
map, shuffle and reduce, with event["reducers"] reducers (default 4).

Line i has the words "word<d>" for each divisor d of i from 1 to 9. Answers with
the counts.
"""

import zlib
from collections import defaultdict


def lines(n):
    for i in range(1, n + 1):
        yield " ".join("word%d" % d for d in range(1, 10) if i % d == 0)


def mapper(line):
    for word in line.split():
        yield word, 1


def shuffle(pairs, reducers):
    parts = [defaultdict(list) for _ in range(reducers)]
    for word, count in pairs:
        parts[zlib.crc32(word.encode()) % reducers][word].append(count)
    return parts


def f(event):
    pairs = (pair for line in lines(event.get("size", 1000)) for pair in mapper(line))
    counts = {}
    for part in shuffle(pairs, event.get("reducers", 4)):
        for word, ones in part.items():
            counts[word] = sum(ones)
    return counts
