"""A random graph that is the same each time, on every platform."""


def edges(size, degree=3):
    """(node, earlier node, weight from 1 to 1000) of each edge.

    Each node but the first gets that many edges to earlier ones, chosen by a
    linear congruential generator (MMIX's constants); the same edge may come twice.
    """
    state = 1
    for node in range(1, size):
        for _ in range(degree):
            state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            yield node, (state >> 33) % node, 1 + (state >> 20) % 1000


def neighbours(size):
    """For each node, the (other node, weight) of its edges."""
    table = [[] for _ in range(size)]
    for a, b, weight in edges(size):
        table[a].append((b, weight))
        table[b].append((a, weight))
    return table
