"""WSGI applications (PEP 3333) as apps.

SCRIPT_NAME is /run/<name> and PATH_INFO what follows it, or "/".
"""

import io
import sys

from . import origin
from .http1 import Response


def app(application, slots=1):
    """The app for a WSGI application that serves so many requests at once."""
    def run(req):
        return _Exchange(application, environ(req, slots > 1)).response()
    return run


def environ(req, threads=False):
    """The environment dictionary of a request."""
    path, _, query = req.target.decode("latin-1").partition("?")
    script, info = origin.split(path)
    scheme = origin.scheme(req)
    host, port = origin.server(req, scheme)
    env = {
        "REQUEST_METHOD": req.method.decode("ascii"),
        "SCRIPT_NAME": script,
        "PATH_INFO": info,
        "QUERY_STRING": query,
        "SERVER_PROTOCOL": "HTTP/1.%d" % req.minor,
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "REMOTE_ADDR": origin.client(req),
        "CONTENT_LENGTH": str(len(req.body)) if req.length is not None or req.chunked else "",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scheme,
        "wsgi.input": io.BytesIO(req.body),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": threads,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in req.headers:
        _add_header(env, name.decode("latin-1"), value.decode("latin-1"))
    return env


def _add_header(env, name, value):
    if name in ("content-length", "transfer-encoding") or "_" in name:
        return  # decoded already; a "_" could pose as a "-"
    if name == "content-type":
        env["CONTENT_TYPE"] = value
        return
    key = "HTTP_" + name.upper().replace("-", "_")
    if key in env:
        value = env[key] + ("; " if name == "cookie" else ",") + value
    env[key] = value


class _Exchange:
    """One call of the application: collects what start_response says."""

    def __init__(self, application, env):
        self._application = application
        self._env = env
        self._status = None
        self._headers = None
        self._written = []

    def response(self):
        """Runs the application up to its first chunk."""
        result = self._application(self._env, self._start)
        try:
            chunks = _Chunks(result, self._written)
            if not chunks.prime() and self._status is None:
                raise RuntimeError("WSGI application did not call start_response")
            if self._status is None:
                raise RuntimeError("WSGI application wrote before start_response")
            return self._respond(result, chunks)
        except BaseException:
            _close(result)
            raise

    def _start(self, status, headers, exc_info=None):
        if exc_info is not None:
            exc_info = None  # nothing has been sent yet: the new status replaces the old
        elif self._status is not None:
            raise RuntimeError("start_response called twice")
        code, _, reason = status.partition(" ")
        self._status = int(code), reason
        self._headers = list(headers)
        return self._written.append

    def _respond(self, result, chunks):
        code, reason = self._status
        length = None
        for name, value in self._headers:
            if name.lower() == "content-length":
                length = int(value)
        if isinstance(result, (list, tuple)):
            body = b"".join(chunks)
            _close(result)
            return Response(code, self._headers, body, reason, length)
        return Response(code, self._headers, chunks, reason, length)


class _Chunks:
    """What write() was given, then the result's items."""

    def __init__(self, result, written):
        self._result = result
        self._items = iter(result)
        self._written = written

    def prime(self):
        """Gets the first item, which makes the application call start_response."""
        for item in self._items:
            self._written.append(item)
            return True
        return bool(self._written)

    def __iter__(self):
        return self

    def __next__(self):
        if self._written:
            return self._written.pop(0)
        return next(self._items)

    def close(self):
        """Calls the result's close, as PEP 3333 demands."""
        _close(self._result)


def _close(result):
    close = getattr(result, "close", None)
    if close is not None:
        close()
