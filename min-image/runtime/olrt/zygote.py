"""A process that has imported what lambdas need and forks sandboxes from it.

The worker asks over a control socket; each request brings a cgroup directory,
the child's own control socket and its output pipe. The child comes out of one
clone3 call in new namespaces and in its cgroup. It is made a child of the
worker, not of the zygote, so that a zygote's death harms no sandbox.
"""

import ctypes
import importlib
import os
import socket
import struct
import sys

from . import branch, child as birth, jail, warm, wire

SYS_CLONE3 = 435
CLONE_PIDFD, CLONE_PARENT = 0x1000, 0x8000
CLONE_INTO_CGROUP = 0x200000000

MSG_PEEK = 2

NAMESPACES = jail.CLONE_NEWNS | jail.CLONE_NEWUTS | jail.CLONE_NEWIPC | jail.CLONE_NEWPID

_before = ctypes.pythonapi.PyOS_BeforeFork
_after_child = ctypes.pythonapi.PyOS_AfterFork_Child
_after_parent = ctypes.pythonapi.PyOS_AfterFork_Parent
for _hook in (_before, _after_child, _after_parent):
    _hook.restype, _hook.argtypes = None, []


def main():
    """Serve the worker until it closes the control socket."""
    jail.close_range(birth.CONTROL_FD + 1, 0xFFFFFFFF)  # what the worker itself had inherited
    control = socket.socket(fileno=birth.CONTROL_FD)
    jail.prctl(jail.PR_SET_PDEATHSIG, jail.SIGKILL)
    message, fds = wire.receive(control)
    if message is None:
        return
    if fds:
        jail.join_realm(fds[0], message["network"] != "host")
    missing = preload(message["modules"])
    jail.limit()
    if not fds:
        jail.keep(jail.CAP_SYS_ADMIN, jail.CAP_SETUID, jail.CAP_SETGID, jail.CAP_SETPCAP, jail.CAP_NET_ADMIN)
    warm.dummy()
    warm.prepare_fork()
    branch.remember()
    wire.send(control, {"op": "zygote", "missing": missing})
    _run(control)


def _run(control):
    """Answer requests until the worker closes the socket. A fork goes on here, as what it is to be."""
    while True:
        born = _serve(control)
        if born is None:
            return
        control.detach()  # its number is the fork's own socket now
        packages, control = born
        if packages is None:
            branch.leave()
            birth.run(control)
        branch.grow(control, packages, preload)


def preload(modules):
    """Import modules; return those that cannot be."""
    missing = []
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as e:
            missing.append("%s: %s" % (name, e))
    return missing


def _serve(control):
    """Answer requests. Returns only in a fork: (paths of a zygote's packages or None, its control socket)."""
    home = jail.network()
    while True:
        message, fds = wire.receive(control)
        if message is None:
            return None
        cgroup, own, output = fds[:3]
        is_zygote = message["op"] == "spawn"
        try:
            if is_zygote:
                pid, pidfd = clone(cgroup, own, jail.CLONE_NEWNS)
            else:
                namespaces = NAMESPACES | (jail.CLONE_NEWNET if message.get("new_net") else 0)
                pid, pidfd = clone(cgroup, own, namespaces, message.get("ids"), fds[3:], home)
        except OSError as e:
            wire.send(control, {"op": "failed", "text": str(e)})
        else:
            if pid == 0:
                packages = jail.attach_packages(message.get("packages", []), fds[3:]) if is_zygote else None
                return packages, _keep_ends(own, output)
            wire.send(control, {"op": "forked", "pid": pid}, [pidfd])
            os.close(pidfd)
        for fd in fds:
            os.close(fd)


def clone(cgroup, own, namespaces, ids=None, visit=(), home=-1):
    """Fork into new namespaces and a cgroup: (0, -1) in the child, else (pid, pidfd).

    With ids it is in a user namespace of its own, which has those of ours. It is
    in the network namespace in visit, if there is one; we come back home.

    The child first waits for something to arrive on own. By then the worker has
    put it into its v1 cgroups as well, so that the memory which it touches from
    here on is charged to it and not to the zygote.
    """
    flags = namespaces | CLONE_PIDFD | CLONE_PARENT | CLONE_INTO_CGROUP
    if ids:
        flags |= jail.CLONE_NEWUSER
    pidfd = ctypes.c_int(-1)
    args = struct.pack("11Q", flags, ctypes.addressof(pidfd), 0, 0, 0, 0, 0, 0, 0, 0, cgroup)
    buffer = ctypes.create_string_buffer(args, len(args))
    peeked = ctypes.create_string_buffer(1)
    _flush()
    if visit:
        jail.join_network(visit[0])
    _before()
    pid = jail.libc.syscall(SYS_CLONE3, buffer, ctypes.c_size_t(len(args)))
    if pid == 0:
        jail.libc.recv(own, peeked, 1, MSG_PEEK)
        _after_child()
        return 0, -1
    number = ctypes.get_errno()
    _after_parent()
    if visit:
        jail.join_network(home)
    if pid < 0:
        raise OSError(number, "clone3: " + os.strerror(number))
    if ids:
        try:
            jail.map_ids(pid, ids["first"], ids["count"])
        except OSError:
            os.close(pidfd.value)  # the worker finds the child in its cgroup
            raise
    return pid, pidfd.value


def _keep_ends(own, output):
    """Keep only standard streams and the control socket."""
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(own, birth.CONTROL_FD)  # takes the place of the zygote's own
    jail.close_range(birth.CONTROL_FD + 1, 0xFFFFFFFF)
    os.set_inheritable(birth.CONTROL_FD, False)
    return socket.socket(fileno=birth.CONTROL_FD)


def _flush():
    sys.stdout.flush()
    sys.stderr.flush()
