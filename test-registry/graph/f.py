"""Algorithms on a random graph of event["size"] nodes (default 1000); event["algorithm"]
is one of these (default bfs):

bfs       breadth-first search from node 0: how many nodes there are at each distance
mst       the weight of the lightest tree that spans the graph, by Prim's algorithm
pagerank  after event["rounds"] rounds (default 20): the first three nodes in order
          of rank, their ranks rounded to 9 places, and the sum of all
"""

import heapq

import graphs

DAMPING = 0.85


def bfs(table, event):
    seen = [False] * len(table)
    seen[0] = True
    layer, counts = [0], []
    while layer:
        counts.append(len(layer))
        following = []
        for node in layer:
            for other, _ in table[node]:
                if not seen[other]:
                    seen[other] = True
                    following.append(other)
        layer = following
    return counts


def mst(table, event):
    outside = [True] * len(table)
    weight, heap = 0, [(0, 0)]
    while heap:
        cost, node = heapq.heappop(heap)
        if not outside[node]:
            continue
        outside[node] = False
        weight += cost
        for other, price in table[node]:
            if outside[other]:
                heapq.heappush(heap, (price, other))
    return weight


def pagerank(table, event):
    n = len(table)
    rank = [1 / n] * n
    for _ in range(event.get("rounds", 20)):
        share = [DAMPING * r / max(1, len(out)) for r, out in zip(rank, table)]
        rank = [(1 - DAMPING) / n + sum(share[other] for other, _ in links) for links in table]
    best = sorted(range(n), key=lambda node: (-rank[node], node))[:3]
    return {"best": best, "ranks": [round(rank[node], 9) for node in best], "sum": round(sum(rank), 9)}


ALGORITHMS = {"bfs": bfs, "mst": mst, "pagerank": pagerank}


def f(event):
    return ALGORITHMS[event.get("algorithm", "bfs")](graphs.neighbours(event.get("size", 1000)), event)
