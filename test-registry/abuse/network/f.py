"""Tries to reach what it must not: the worker, the machine, the link below it.

event: "addresses" are host:port to connect to.
"""

import os
import socket
import struct

from attempt import run, syscall

NETLINK_ROUTE, RTM_NEWLINK, RTM_NEWROUTE, REQUEST_ACK = 0, 16, 24, 5


def connect(address):
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=1) as s:
        s.sendall(b"GET /status HTTP/1.0\r\n\r\n")
        if not s.recv(1):
            raise ConnectionError("nothing")


def abstract():
    """Connects to every abstract socket there is."""
    with open("/proc/net/unix") as f:
        names = [line.split()[-1][1:] for line in f if line.split()[-1].startswith("@")]
    if not names:
        raise FileNotFoundError(2, "none")
    for name in names:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect("\0" + name)


def netlink(kind, body):
    """Asks the kernel to change the network."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_ROUTE) as s:
        s.sendto(struct.pack("IHHII", 16 + len(body), kind, REQUEST_ACK, 1, 0) + body, (0, 0))
        error = struct.unpack_from("i", s.recv(4096), 16)[0]
        if error:
            raise OSError(-error, "netlink")


def f(event):
    attempts = {
        "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
        "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0300),
        "vsock": lambda: socket.socket(40, socket.SOCK_STREAM),
        "alg": lambda: socket.socket(38, socket.SOCK_SEQPACKET),
        "link down": lambda: netlink(RTM_NEWLINK, struct.pack("BxHiII", 0, 0, 1, 0, 1)),
        "route": lambda: netlink(RTM_NEWROUTE, struct.pack("BBBBBBBBI", 2, 0, 0, 0, 254, 3, 253, 1, 0)),
        "join namespace": lambda: syscall(308, os.open("/proc/1/ns/net", os.O_RDONLY), 0),
        "abstract sockets": abstract,
        "invoke socket": lambda: os.stat("/host/invoke.sock"),
    }
    for address in event.get("addresses", ()):
        attempts["connect " + address] = lambda address=address: connect(address)
    return run(attempts)
