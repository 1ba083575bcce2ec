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
        """Prepares a connection; arming it costs three system calls a request."""
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
    """One connection that may be watched: arm, release, arm, ..., rest."""

    __slots__ = ("_owner", "_fd", "_pid", "_poll", "_signals")

    def __init__(self, owner, sock):
        self._owner = owner
        self._fd = fd = sock.fileno()
        self._pid = os.getpid()
        self._signals = False  # whether this process gets the signals
        # O_ASYNC stays on; signals go to the file's owner, at first nobody,
        # and changing that is cheaper than changing O_ASYNC.
        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)
        self._poll = _poller(fd)

    def arm(self):
        """From here to release, ClientGone may be raised at any instruction."""
        if not self._signals:
            self._signals = True
            fcntl.fcntl(self._fd, fcntl.F_SETOWN, self._pid)
        self._owner._armed = self
        if self._poll(0):  # it may have gone before the signal was on
            self._owner._armed = None
            raise ClientGone()

    def release(self):
        """Raises nothing from here on; signals still come."""
        self._owner._armed = None

    def rest(self):
        """Stops the signals until the next arm, once the answer is sent."""
        if self._signals:
            self._signals = False
            fcntl.fcntl(self._fd, fcntl.F_SETOWN, 0)

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
