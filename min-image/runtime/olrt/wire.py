"""Messages between the worker and a process in the making.

A message is a JSON object behind its length as four bytes, most significant
first. File descriptors travel with the first byte.
"""

import array
import json
import socket

MAX_FDS = 253  # the kernel sends no more with one message
MAX_MESSAGE = 16 << 20

_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_FDS_SPACE = socket.CMSG_SPACE(MAX_FDS * 4)


def send(sock, message, fds=()):
    """Send one message, and descriptors if there are any."""
    body = json.dumps(message).encode()
    data = len(body).to_bytes(4, "big") + body
    if fds:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
        data = data[sock.sendmsg([data], rights):]
    sock.sendall(data)


def receive(sock):
    """Return (message, fds), or (None, []) when the other side has closed."""
    head, ancillary, _, _ = sock.recvmsg(4, _FDS_SPACE, _CLOEXEC)
    fds = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % 4])
    if not head:
        return None, list(fds)
    head += _exactly(sock, 4 - len(head))
    size = int.from_bytes(head, "big")
    if size > MAX_MESSAGE:
        raise ValueError("message of %d bytes is too long" % size)
    return json.loads(_exactly(sock, size)), list(fds)


def _exactly(sock, size):
    chunks = []
    while size > 0:
        chunk = sock.recv(size)
        if not chunk:
            raise EOFError("message cut short")
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)
