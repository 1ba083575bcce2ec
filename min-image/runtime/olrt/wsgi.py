"""WSGI applications (PEP 3333) as apps.

SCRIPT_NAME is /run/<name> and PATH_INFO what follows it, or "/".
"""

import io
import re
import sys

from .http1 import Response


def app(application):
    """The app for a WSGI application."""
    def run(req):
        return _Exchange(application, req).response()
    return run


def environ(req):
    """The environment dictionary of a request."""
    path, _, query = req.target.decode("latin-1").partition("?")
    script, info = _split(path)
    env = {
        "REQUEST_METHOD": req.method.decode("ascii"),
        "SCRIPT_NAME": script,
        "PATH_INFO": info,
        "QUERY_STRING": query,
        "SERVER_PROTOCOL": "HTTP/1.%d" % req.minor,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_LENGTH": str(len(req.body)) if req.length is not None or req.chunked else "",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(req.body),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in req.headers:
        _add_header(env, name.decode("latin-1"), value.decode("latin-1"))
    return env


def _split(path):
    parts = path.split("/", 3)
    if len(parts) >= 3 and parts[1] == "run":
        script = "/run/" + parts[2]
        return script, _unquote("/" + (parts[3] if len(parts) > 3 else ""))
    return "", _unquote(path)


_escape = re.compile("%([0-9A-Fa-f]{2})")


def _unquote(path):
    return _escape.sub(lambda match: chr(int(match.group(1), 16)), path)


def _add_header(env, name, value):
    if name in ("content-length", "transfer-encoding") or "_" in name:
        return  # decoded already; a "_" could pose as a "-"
    if name == "content-type":
        env["CONTENT_TYPE"] = value
        return
    if name == "host":
        host, sep, port = value.rpartition(":")
        if sep and port.isdigit():
            env["SERVER_NAME"], env["SERVER_PORT"] = host, port
        else:
            env["SERVER_NAME"] = value
    key = "HTTP_" + name.upper().replace("-", "_")
    if key in env:
        value = env[key] + ("; " if name == "cookie" else ",") + value
    env[key] = value


class _Exchange:
    """One call of the application: collects what start_response says."""

    def __init__(self, application, req):
        self._application = application
        self._env = environ(req)
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
