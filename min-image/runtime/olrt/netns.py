"""Makes network namespaces that zygotes can join, until the worker closes.

The worker first sends the zygotes' user namespace, which they are to belong to,
over a control socket, and then asks for a number of them again and again. Each
is sent back in a message of its own. Between them this process is in a network
of its own, so that it keeps none of them alive.
"""

import os
import socket

from . import jail, wire

CONTROL_FD = 3


def main():
    """Serve requests."""
    jail.close_range(CONTROL_FD + 1, 0xFFFFFFFF)
    control = socket.socket(fileno=CONTROL_FD)
    message, fds = wire.receive(control)
    if message is None:
        return
    try:
        jail.join_realm(fds[0], True)
        home = jail.network()
        while True:
            message, _ = wire.receive(control)
            if message is None:
                return
            _make(control, message["count"], home)
    except OSError as e:
        wire.send(control, {"op": "failed", "text": str(e)})


def _make(control, count, home):
    for _ in range(count):
        made = jail.new_network()
        jail.join_network(home)
        wire.send(control, {"op": "network"}, [made])
        os.close(made)
