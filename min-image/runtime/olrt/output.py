r"""What a lambda prints, attributable to the request that printed it.

stdout and stderr become line-buffered streams on file descriptors 1 and 2.
Before the first output of a request the stream gets the marker line
"\x1eB <request id>\n", after its last one "\x1eE <request id>\n", so a reader
knows whose lines it reads; a request that prints nothing writes no marker.
The character \x1e in what is printed is replaced by its visible symbol.
Output that bypasses the streams (child processes, os.write) carries no marker
unless its request printed before it.
"""

import io
import os
import sys
from contextvars import ContextVar


class _Raw(io.RawIOBase):
    """The unbuffered end of a stream; puts the markers in."""

    def __init__(self, fd, owner):
        super().__init__()
        self._fd = fd
        self._owner = owner
        self._marked = None  # request id of the last begin marker
        self._bol = True  # at the beginning of a line

    def writable(self):
        return True

    def fileno(self):
        return self._fd

    def isatty(self):
        return False

    def close(self):
        """Keeps the descriptor: the next request prints too."""

    def write(self, data):
        n = len(data)
        if not n:
            return 0
        data = bytes(data)
        if b"\x1e" in data:
            data = data.replace(b"\x1e", "\u241e".encode())
        bol = data.endswith(b"\n")
        ident = self._owner.current()
        if ident is not None and ident != self._marked:
            data = self._line(b"\x1eB " + ident) + data
            self._marked = ident
        self._bol = bol
        self._put(data)
        return n

    def end(self, ident):
        """Writes the end marker if the request's begin marker was the last."""
        if self._marked is not None and self._marked == ident:
            self._marked = None
            self._put(self._line(b"\x1eE " + ident))
            self._bol = True

    def _line(self, line):
        return (b"" if self._bol else b"\n") + line + b"\n"

    def _put(self, data):
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._fd, view):]
            except OSError:
                return  # nobody reads: printing must not fail the handler


class Output:
    """Both streams of the process, and which request is printing."""

    def __init__(self, slots):
        # Tasks and threads made for a request inherit its context.
        self._by_context = ContextVar("request", default=None) if slots > 1 else None
        self._ident = None
        self._raws = ()
        self._texts = ()

    def install(self):
        """Replaces sys.stdout and sys.stderr."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass  # absent or closed: nothing is lost
        self._raws = (_Raw(1, self), _Raw(2, self))
        self._texts = tuple(
            # Straight onto the raw end: a buffer between them would write again
            # what it had just written when an interrupt arrives then.
            io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace",
                             line_buffering=True)
            for raw in self._raws)
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__ = self._texts

    def current(self):
        """The id of the request that is printing, or None."""
        return self._ident if self._by_context is None else self._by_context.get()

    def begin(self, ident):
        """A request begins on this thread."""
        if self._by_context is None:
            self._ident = ident
        else:
            self._by_context.set(ident)

    def end(self, ident):
        """The request ends: what it printed is flushed and closed off."""
        try:
            self.flush()
        except ValueError:  # the handler closed the stream
            self.install()
        if ident is not None:
            for raw in self._raws:
                raw.end(ident)
        self.begin(None)

    def flush(self):
        """Writes out what is buffered."""
        for stream in self._texts:
            stream.flush()
