"""Getting a process ready to be forked: import, touch, freeze.

Page faults dominate the cost of a fork, so a zygote and a parked child run
one request through the real path before they wait.
"""

import gc
import signal
import socket

from . import apps, output
from .faults import rehearse
from .server import Options, Server

_REQUEST = (b"POST /run/warm HTTP/1.1\r\nHost: warm\r\nUser-Agent: warm\r\n"
            b"Content-Length: 14\r\nX-Ol-Request-Id: warm\r\n\r\n" b'{"warm": true}')


def dummy():
    """Serves one request on a socket pair, the way a real one is served.

    Reads, parses, dispatches, arms the interrupt and answers; leaves neither
    descriptors nor a signal handler behind. Raises RuntimeError when the
    answer is not the expected one.
    """
    rehearse()
    server = Server(apps.event(lambda event: event), Options(), output.Output(1))
    former = server.interrupter.install()
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        near.sendall(_REQUEST)
        server.serve_ready(server.adopt(far))
        answer = near.recv(4096)
    finally:
        near.close()
        far.close()
        signal.signal(signal.SIGIO, former)
    if not answer.startswith(b"HTTP/1.1 200 OK\r\n"):
        raise RuntimeError("dummy request answered with %r" % answer[:200])


def prepare_fork():
    """Moves all living objects out of the collector's sight.

    A collection in a forked child then writes to none of the pages that it
    shares with its parent.
    """
    gc.collect()
    gc.freeze()
