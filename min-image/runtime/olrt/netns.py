"""Makes network namespaces that zygotes can join, and ends.

The worker asks over a control socket for a number of them, and sends the
zygotes' user namespace, which they are to belong to. Each is sent back in a
message of its own.
"""

import os
import socket

from . import jail, wire

CONTROL_FD = 3


def main():
    """Serve one request."""
    jail.close_range(CONTROL_FD + 1, 0xFFFFFFFF)
    control = socket.socket(fileno=CONTROL_FD)
    message, fds = wire.receive(control)
    if message is None:
        return
    try:
        jail.join_realm(fds[0], False)
        for _ in range(message["count"]):
            made = jail.new_network()
            wire.send(control, {"op": "network"}, [made])
            os.close(made)
    except OSError as e:
        wire.send(control, {"op": "failed", "text": str(e)})
