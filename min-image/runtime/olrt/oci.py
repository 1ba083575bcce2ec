"""The life of an OCI container's first process, up to serving.

Namespaces, mounts, limits, user and capabilities are the container runtime's
work and done when this starts. The filter of system calls is ours, the same as
in a SOCK sandbox. The talk with the worker is that of olrt.child, without the
directories: "parked", then "start", then "ready" or "failed".
"""

import os
import socket

from . import child, jail, selfkill, wire

LISTENER_FD = child.CONTROL_FD + 1


def main():
    """Entry of the container's process."""
    os.set_inheritable(child.CONTROL_FD, False)  # a program in our place must not have it
    child.run(socket.socket(fileno=child.CONTROL_FD), _live)


def _live(control):
    listener = socket.socket(fileno=LISTENER_FD)
    jail.limit()
    jail.confine()
    jail.seal()
    wire.send(control, {"op": "parked"})
    message, _ = wire.receive(control)
    if message is None:  # the worker has given up
        return 0
    selfkill.install()
    spec = message["spec"]
    if message["op"] == "exec":
        child.become_program(control, message["args"], spec["env"])
    return child.become(control, listener, spec, ["/packages/" + name for name in spec["packages"]])
