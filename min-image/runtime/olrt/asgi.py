"""ASGI applications (version 3) as apps.

root_path is /run/<name> and path what follows it, or "/". The body comes to
the application as it arrives, the answer goes out as it is sent. What an
application still does after its answer is complete is done before the
sandbox takes the next request.

lifespan.startup is sent before the lambda is ready; lifespan.shutdown never,
for a sandbox ends by being killed.
"""

from . import aio, origin
from .faults import complain, describe
from .http1 import ProtocolError, Response
from .interrupt import ClientGone


class StartError(Exception):
    """The application refused to start."""


def app(application, runner):
    """The app for an ASGI application, which is started."""
    state = {}
    runner.run(_Lifespan(application, state, runner).start())

    def run(req):
        return _Exchange(application, runner, req, state).response()
    run.watches = run.early = True
    return run


def scope(req, state):
    """What an application is told about a request."""
    raw, _, query = req.target.partition(b"?")
    root, path = origin.split(raw.decode("latin-1"))
    scheme = origin.scheme(req)
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.%d" % req.minor,
        "method": req.method.decode("ascii"),
        "scheme": scheme,
        "path": path.encode("latin-1").decode("utf-8", "replace"),
        "raw_path": raw,
        "query_string": query,
        "root_path": root,
        "headers": [field for field in req.headers if field[0] != b"transfer-encoding"],
        "client": (origin.client(req), 0),
        "server": origin.server(req, scheme),
        "state": dict(state),
        "extensions": {},
    }


class _Lifespan:
    """The start of an application that wants one."""

    def __init__(self, application, state, runner):
        self._application = application
        self._state = state
        self._runner = runner
        self._started = self._task = None

    async def start(self):
        """Returns when the application has started; StartError when it cannot."""
        self._started = self._runner.loop.create_future()
        told = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self._state}
        self._events = [{"type": "lifespan.startup"}]
        self._task = self._runner.loop.create_task(
            aio.outcome(self._application(told, self._receive, self._send)))
        self._task.add_done_callback(self._ended)
        failure = await self._started
        if failure is not None:
            raise StartError(failure)

    async def _receive(self):
        if self._events:
            return self._events.pop()
        return await self._runner.loop.create_future()  # there is no orderly end

    async def _send(self, message):
        kind = message["type"]
        if self._started.done():
            return
        if kind == "lifespan.startup.complete":
            self._started.set_result(None)
        elif kind == "lifespan.startup.failed":
            self._started.set_result("ASGI application failed to start: %s" % message.get("message", ""))

    def _ended(self, _task):
        if not self._started.done():
            self._started.set_result(None)  # it knows no lifespan, which is its right


class _Exchange(aio.Job):
    """One request to the application."""

    def __init__(self, application, runner, req, state):
        super().__init__(runner, req)
        self._application = application
        self._runner = runner
        self._req = req
        self._scope = scope(req, state)
        self._read = False  # the whole body was given to the application
        self._status = None
        self._headers = None
        self.complete = False  # the last piece of the body was given out

    def response(self):
        """Runs the application up to the first piece of its answer."""
        self._runner.run(self._begin())
        if self.gone:
            self._runner.run(self.end(kill=True))
            raise ClientGone
        if self._status is None or not (self.complete or self._items):
            return self._failed()
        return self._respond()

    async def _begin(self):
        self.start(self._application(self._scope, self.receive, self.send))
        await self.advance()

    def _failed(self):
        err = self._runner.run(self.end(kill=False))
        raise err or RuntimeError("ASGI application ended without an answer")

    def _respond(self):
        length = None
        for name, value in self._headers:
            if name.lower() == "content-length":
                length = int(value)
        if not self.complete or len(self._items) > 1:
            return Response(self._status, self._headers, aio.Chunks(self._runner, self), None, length)
        if not self.task.done():
            if length is None:
                length = len(self._items[0])
            return Response(self._status, self._headers, aio.Chunks(self._runner, self), None, length)
        err = self.task.result()[1]
        if err is not None:
            complain(describe(err))
        return Response(self._status, self._headers, self._items.pop(), None, length)

    async def receive(self):
        """ASGI's receive: a piece of the body, or that the client has gone."""
        req = self._req
        if self._read or self.gone:
            while not self.gone and not self.complete:
                await self.heard()
            return {"type": "http.disconnect"}
        if not req.partial:
            self._read = True
            data, req.body = bytes(req.body), b""
            return {"type": "http.request", "body": data, "more_body": False}
        return await self._piece()

    async def _piece(self):
        while True:
            try:
                data, self._read = self._conn.reader.more()
            except ProtocolError:
                self._conn.sock.shutdown(0)  # of no further use: the server closes it
                self._req.close = True
                raise
            if data or self._read:
                return {"type": "http.request", "body": data, "more_body": not self._read}
            await self.heard()
            if self.gone:
                return {"type": "http.disconnect"}

    async def send(self, message):
        """ASGI's send."""
        kind = message["type"]
        if kind == "http.response.start":
            if self._status is not None:
                raise RuntimeError("http.response.start was sent twice")
            self._headers = [(_text(name), _text(value)) for name, value in message.get("headers", ())]
            self._status = message["status"]
        elif kind != "http.response.body":
            raise RuntimeError("unexpected ASGI message %r" % kind)
        elif self._status is None:
            raise RuntimeError("http.response.body was sent before http.response.start")
        elif not self.complete:
            await self._body(message.get("body", b""), message.get("more_body", False))

    async def _body(self, data, more):
        if self.gone:
            raise OSError("the client has gone")
        if more:
            await self.put(data)
            return
        self.complete = True
        self.put_last(data)
        self.tell()  # receive has nothing to wait for any more


def _text(value):
    return bytes(value).decode("latin-1")
