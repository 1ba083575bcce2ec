"""Forks until it may not, and answers how many processes it had, itself included.

event["times"] bounds the attempts (default 1000). The children wait on a pipe
and are gone before the answer is given.
"""

import os
import signal


def f(event):
    attempts = event.get("times", 1000) if isinstance(event, dict) else 1000
    children = []
    try:
        for _ in range(attempts):
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            children.append(pid)
    except OSError:
        pass  # the limit: what the test is about
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            os.waitpid(pid, 0)
    return len(children) + 1
