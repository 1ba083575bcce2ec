"""A lambda that is loaded for practice by a child that waits in the pool.

It has a bit of everything, so that the compiler has been everywhere.
"""

import json
import os

LIMIT = {"a": [1, 2.5, "x"], "b": (None, True)}


class Thing:
    """Anything."""

    def __init__(self, n=3, **more):
        self.n = n
        self.more = more


def f(event):
    """Answers with what is not None."""
    try:
        return {k: v for k, v in event.items() if v is not None}
    except AttributeError as e:
        raise RuntimeError(f"no {e}") from e
    finally:
        [os.sep for _ in range(3)]


f(json.loads(json.dumps({"thing": Thing(4).n})))
