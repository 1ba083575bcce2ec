"""The life of a sandbox's first process, up to serving.

The worker is at the other end of a control socket. It sends "park" (get ready
for any lambda, then wait) or "start" (become this lambda) and reads "parked",
"ready" or "failed". The socket is closed before the lambda answers anything,
so nothing that a lambda does reaches it.
"""

import os
import socket
import sys
import traceback

from . import jail, loader, output, selfkill, server, warm, wire

CONTROL_FD = 3


def main():
    """Entry of a process that was started afresh, not forked."""
    jail.close_range(CONTROL_FD + 1, 0xFFFFFFFF)  # what the worker itself had inherited
    run(socket.socket(fileno=CONTROL_FD))


def run(control):
    """Live: never returns."""
    try:
        code = _live(control)
    except BaseException:  # noqa: B902 - nothing may fall through into the zygote's loop
        traceback.print_exc()
        code = 1
    _flush()
    os._exit(code)


def _live(control):
    try:
        message, fds = _ready_to_start(control)
        if message is None:
            return 0
        spec = message["spec"]
        listener, packages = _enter(spec, fds)
    except Exception as e:
        _fail(control, False, "%s: %s" % (type(e).__name__, e))
        return 1
    out = output.Output(spec["slots"])
    out.install()
    try:
        app = loader.load("/handler", spec["entry"], spec["handler"], spec["env"], packages)
    except loader.LoadError as e:
        _fail(control, True, str(e))
        return 1
    out.flush()
    wire.send(control, {"op": "ready"})
    control.close()
    server.serve(listener, app, server.Options(spec["slots"], spec["max_body"]), out)
    return 0


def _ready_to_start(control):
    jail.prctl(jail.PR_SET_PDEATHSIG, jail.SIGKILL)
    message, fds = wire.receive(control)
    if message is None:
        return None, []
    jail.isolate(message["jail"])
    if message["op"] == "park":
        warm.dummy()
        wire.send(control, {"op": "parked"})
        message, fds = wire.receive(control)
    return message, fds


def _enter(spec, fds):
    """Hang in the lambda's directories and give up privileges."""
    listener = socket.socket(fileno=fds[0])
    jail.attach(fds[1], "/handler")
    jail.attach(fds[2], "/host")
    packages = jail.attach_packages(fds[3:])
    socket.sethostname(spec["hostname"])
    program = jail.read_filter()
    os.chdir("/handler")
    jail.drop(spec["uid"], program)
    selfkill.install()
    return listener, packages


def _fail(control, lambda_fault, text):
    _flush()
    wire.send(control, {"op": "failed", "lambda": lambda_fault, "text": text})


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
