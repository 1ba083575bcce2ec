"""The life of a sandbox's first process, up to serving.

The worker is at the other end of a control socket. It sends "settle" (set up
what every lambda needs; for the pool, rehearse too and answer "parked"), then
"start" (become this lambda), and reads "ready" or "failed". The socket is
closed before the lambda answers anything, so nothing that a lambda does
reaches it.
"""

import errno
import os
import socket
import sys
import traceback

from . import jail, loader, native, output, reaper, selfkill, server, warm, wire

CONTROL_FD = 3

_kept = []


def main():
    """Entry of a process that was started afresh, not forked."""
    jail.close_range(CONTROL_FD + 1, 0xFFFFFFFF)  # what the worker itself had inherited
    os.set_inheritable(CONTROL_FD, False)  # a program in our place must not have it
    jail.limit()
    run(socket.socket(fileno=CONTROL_FD))


def run(control, live=None):
    """Live, with another way to settle if live is given: never returns."""
    try:
        code = (live or _live)(control)
    except BaseException:  # noqa: B902 - nothing may fall through into the zygote's loop
        traceback.print_exc()
        code = 1
    _flush()
    os._exit(code)


def _live(control):
    try:
        listener, uid = _settle(control)
        message, fds = wire.receive(control)
        if message is None:
            raise _Dismissed
        spec = message["spec"]
        packages = _enter(spec, fds, uid)
        if message["op"] == "exec":
            become_program(control, message["args"], spec["env"])
    except _Dismissed:
        return 0
    except Exception as e:
        _fail(control, False, "%s: %s" % (type(e).__name__, e))
        return 1
    return become(control, listener, spec, packages)


def become(control, listener, spec, packages):
    """Become the lambda of spec, say so, and serve it: returns only on failure."""
    if native.named(spec["entry"], spec["env"]):
        return _execute(control, spec)
    out = output.Output(spec["slots"])
    out.install()
    try:
        app = loader.load("/handler", spec["entry"], spec["handler"], spec["env"], packages,
                          spec["slots"], spec["about"])
    except loader.LoadError as e:
        _fail(control, True, str(e))
        return 1
    out.flush()
    wire.send(control, {"op": "ready"})
    control.close()
    server.serve(listener, app, server.Options(spec["slots"], spec["max_body"]), out)
    return 0


def _execute(control, spec):
    """Become a program; returns only when that fails.

    The worker gets the directory of the socket that the program will make.
    The end of the control socket tells it that the program runs.
    """
    place = os.open("/host", os.O_PATH | os.O_DIRECTORY)
    wire.send(control, {"op": "program"}, [place])
    try:
        native.execute("/handler", spec["entry"], spec["env"], "/host/ol.sock")
    except OSError as e:
        _fail(control, True, "cannot execute %s: %s" % (os.path.basename(e.filename), _why(e)))
    return 1


def _why(err):
    if err.errno == errno.EACCES:
        return "it is not executable (chmod +x), or needs an interpreter that the base does not have"
    if err.errno == errno.ENOEXEC:
        return "it is no program for this machine, nor begins with #!"
    if err.errno == errno.ENOENT:
        return "the base does not have its interpreter or dynamic loader: link it statically"
    return os.strerror(err.errno)


class _Dismissed(Exception):
    """The worker has closed the control socket."""


def _settle(control):
    """Set up what every lambda needs: (listener, uid)."""
    jail.prctl(jail.PR_SET_PDEATHSIG, jail.SIGKILL)
    message, fds = wire.receive(control)
    if message is None:
        raise _Dismissed
    listener = socket.socket(fileno=fds[0])
    if message.get("root"):
        jail.become_root()
        jail.forgo()
    jail.isolate(message["jail"])
    jail.attach(fds[1], "/host")
    jail.confine()
    if message.get("rehearse"):
        _rehearse()
        wire.send(control, {"op": "parked"})
    return listener, message["uid"]


def _rehearse():
    """Do once, to no effect, what becoming a lambda will do.

    Every page that is written to then is this process's own already.
    """
    warm.dummy()
    output.Output(1).install()
    path = list(sys.path)
    loader.load(os.path.dirname(__file__), "rehearsal.py", "", {"LANG": "C.UTF-8"})
    _kept.append(sys.modules.pop("rehearsal"))  # its memory stays mapped for the lambda
    sys.path[:] = path


def _enter(spec, fds, uid):
    """Hang in the lambda's directories and give up privileges."""
    jail.attach(fds[0], "/handler")
    packages = jail.attach_packages(spec["packages"], fds[1:])
    socket.sethostname(spec["hostname"])
    os.chdir("/handler")
    jail.drop(uid)
    selfkill.install()
    reaper.install()
    return packages


def become_program(control, args, env):
    """Run another Python program in place of this one."""
    _flush()
    os.set_inheritable(control.fileno(), False)
    os.execve(sys.executable, [sys.executable, *args], env)


def _fail(control, lambda_fault, text):
    _flush()
    wire.send(control, {"op": "failed", "lambda": lambda_fault, "text": text})


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
