"""Interrupting a handler whose client has gone.

While a handler runs on the main thread, the kernel sends SIGIO when something
happens on its connection (O_ASYNC); a signal handler then asks whether the
peer has closed it, and if so raises ClientGone right where the handler is.
Blocking system calls end by the signal, so a sleeping handler is interrupted
too. A handler that swallows BaseException or is stuck in C code runs on; the
worker finds out by its ping and destroys the sandbox.

A peer that only stopped sending (shutdown of its writing side) still waits
for its answer and is not taken for gone.
"""

import fcntl
import os
import select
import signal


class ClientGone(BaseException):
    """The client closed the connection while the handler ran."""


class Interrupter:
    """Watches at most one connection, on behalf of the main thread."""

    def __init__(self):
        self._armed = None  # the Watch whose handler runs

    def install(self):
        """Takes over SIGIO. Main thread only. Returns the former disposition."""
        return signal.signal(signal.SIGIO, self._on_signal)

    def watch(self, sock):
        """Prepares a connection; arming it later is one system call each way."""
        return Watch(self, sock)

    def drop(self):
        """Forgets the watched connection: nothing is raised any more."""
        self._armed = None

    def _on_signal(self, _signum, _frame):
        watch = self._armed
        if watch is not None and watch.gone():
            self._armed = None
            raise ClientGone()


class Watch:
    """One connection that may be watched."""

    __slots__ = ("_owner", "_fd", "_on", "_off", "_poll")

    def __init__(self, owner, sock):
        self._owner = owner
        self._fd = fd = sock.fileno()
        self._off = fcntl.fcntl(fd, fcntl.F_GETFL)
        self._on = self._off | os.O_ASYNC
        fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
        self._poll = _poller(fd)

    def arm(self):
        """From here to disarm, ClientGone may be raised at any instruction."""
        fcntl.fcntl(self._fd, fcntl.F_SETFL, self._on)
        self._owner._armed = self
        if self._poll(0):  # it may have gone before the signal was on
            self._owner._armed = None
            raise ClientGone()

    def disarm(self):
        """Ends the watch. Idempotent."""
        self._owner._armed = None
        fcntl.fcntl(self._fd, fcntl.F_SETFL, self._off)

    def gone(self):
        """Whether the peer has closed the connection in both directions.

        Called from the signal handler, which may interrupt arm or itself, and
        a poll object can be used by one at a time: hence a new one.
        """
        return bool(_poller(self._fd)(0))


def _poller(fd):
    poller = select.poll()
    poller.register(fd, 0)  # hang-up and error are always reported
    return poller.poll
