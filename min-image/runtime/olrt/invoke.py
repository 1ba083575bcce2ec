"""Calls other lambdas.

    from olrt.invoke import invoke
    answer = invoke("resize", {"width": 100})

The lambda's ol.yaml must list "resize" under calls. The call belongs to the
request that the lambda is working on: it has the same id, and ends when that
request ends. Any HTTP client that can use a unix socket does the same: POST to
/run/NAME at /host/invoke.sock.
"""

import http.client
import json
import socket

SOCKET = "/host/invoke.sock"


class InvokeError(Exception):
    """A call that was answered with another status than 2xx.

    status is the answer's, body what it says, as bytes.
    """

    def __init__(self, name, status, body):
        super().__init__("%s answered %d: %s" % (name, status, body[:500].decode("utf-8", "replace")))
        self.status = status
        self.body = body


def invoke(name, event=None, timeout=None):
    """Call a lambda with an event, and return what it returns.

    event is anything that JSON has; timeout is in seconds, on top of what is
    left of the caller's own time. An answer that is no JSON is returned as
    bytes. Raises InvokeError, or OSError when the lambda may call nobody.
    """
    connection = _Connection(timeout)
    try:
        connection.request("POST", "/run/" + name, json.dumps(event).encode(), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    if not 200 <= answer.status < 300:
        raise InvokeError(name, answer.status, body)
    kind = answer.getheader("Content-Type", "").partition(";")[0].strip()
    return json.loads(body) if kind == "application/json" and body else body


class _Connection(http.client.HTTPConnection):
    """A connection to the platform."""

    def __init__(self, timeout):
        super().__init__("worker", timeout=timeout)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(SOCKET)
