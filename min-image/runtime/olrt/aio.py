"""Coroutines for a server that is not asynchronous itself.

Imported only for a lambda that is a coroutine function or an ASGI
application: asyncio costs a start more than all the rest of this package.

With one slot the event loop is on the main thread and runs only while a
request does, so nothing that a lambda leaves behind on it proceeds between
requests. With more slots it runs on a thread of its own and serves them all.

A client that goes away has its coroutine cancelled. The handler is not
interrupted where it blocks the loop; the worker then finds out by its ping.
"""

import asyncio
import os
import select
import socket
import threading

from . import apps
from .faults import complain, describe
from .http1 import Response
from .interrupt import ClientGone

END = object()

_PATIENCE = 0.02  # seconds that a request runs before its client is watched
_MERCY = 0.25  # seconds that a handler has, once told that its client is gone
_RECV = 64 * 1024


class Runner:
    """Runs coroutines on the one event loop of the process."""

    def __init__(self, slots):
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self._threaded = slots > 1
        if self._threaded:
            threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def run(self, coroutine):
        """The coroutine's result. Call it on a thread that serves a request."""
        if self._threaded:
            return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()
        return self.loop.run_until_complete(coroutine)


async def outcome(awaitable):
    """(result, None), or (None, what was raised), of whatever class."""
    try:
        return await awaitable, None
    except BaseException as err:
        return None, err


class Job:
    """One request's coroutine, the items that it gives out, and its client.

    put and put_last are for the coroutine, start, advance and take for
    whoever answers the request; all on the loop.
    """

    def __init__(self, runner, req):
        self.loop = runner.loop
        self.task = None
        self.gone = False  # the client has left
        self._conn = req.conn
        self._pid = os.getpid()
        self._timer = None
        self._reading = False
        self._listeners = []  # futures of who waits for the body or the client's end
        self._items = []
        self._progress = None  # future of who waits for an item or the end
        self._room = None  # future of put, done when its item was taken

    # For who answers.

    def start(self, coroutine):
        """Begins the coroutine beside the caller."""
        self.task = self.loop.create_task(outcome(coroutine))
        self.task.add_done_callback(self._ended)
        self.watch_later()

    async def finish(self, coroutine):
        """Runs the coroutine on the caller's own task: (result, error)."""
        self.task = asyncio.current_task()
        self.watch_later()
        result = await outcome(coroutine)
        self.rest()
        return result

    async def advance(self):
        """Lets the coroutine run until an item is there or it has ended."""
        while not self._items and not self.task.done():
            self._progress = self.loop.create_future()
            await self._progress

    async def take(self):
        """The next item, or END when the coroutine has ended."""
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        await self.advance()
        return self._items.pop(0) if self._items else END

    async def end(self, kill):
        """Waits for the coroutine, or kills it; what it raised, None if nothing."""
        if kill and not self.task.done():
            self.task.cancel()
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        _, err = await self.task
        return None if kill and isinstance(err, asyncio.CancelledError) else err

    def _ended(self, _task):
        self.rest()
        self._advanced()

    def _advanced(self):
        if self._progress is not None and not self._progress.done():
            self._progress.set_result(None)

    # For the coroutine.

    async def put(self, item):
        """Gives an item out and waits until it was taken."""
        self.put_last(item)
        self._room = self.loop.create_future()
        await self._room

    def put_last(self, item):
        """Gives an item out that nobody waits for."""
        self._items.append(item)
        self._advanced()

    # The client.

    def watch_later(self):
        """Watches the client from soon on: most requests are over before."""
        self._timer = self.loop.call_later(_PATIENCE, self.listen)

    def listen(self):
        """Has the loop read the connection."""
        if not self._reading and not self.gone:
            self._reading = True
            self.loop.add_reader(self._conn.fd, self._readable)

    def rest(self):
        """Ends the watch."""
        if self._timer is not None:
            self._timer.cancel()
        self._deaf()

    def _deaf(self):
        # A forked child shares the kernel's list of what is watched.
        if self._reading and os.getpid() == self._pid:
            self._reading = False
            self.loop.remove_reader(self._conn.fd)

    async def heard(self):
        """Returns when more of the body has come, or the client has gone."""
        self.listen()
        if not self.gone:
            listener = self.loop.create_future()
            self._listeners.append(listener)
            await listener

    def _readable(self):
        body = self._conn.reader.req is not None  # what arrives belongs to this request
        if not body and _hung_up(self._conn.fd):
            self._lost()
            return
        flags = socket.MSG_DONTWAIT if body else socket.MSG_DONTWAIT | socket.MSG_PEEK
        try:
            data = self._conn.sock.recv(_RECV, flags)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if data and body:
            self._conn.reader.feed(data)
            self.tell()
        elif body or _hung_up(self._conn.fd):
            self._lost()
        else:
            self._deaf()  # half closed, or the next request: this one is answered first

    def tell(self):
        """Wakes all that have not heard yet; whether there was anybody."""
        waiting = [listener for listener in self._listeners if not listener.done()]
        self._listeners.clear()
        for listener in waiting:
            listener.set_result(None)
        return bool(waiting)

    def _lost(self):
        self.gone = True
        self._deaf()
        if self.tell():
            self._timer = self.loop.call_later(_MERCY, self.task.cancel)
        else:
            self.task.cancel()


def _hung_up(fd):
    poller = select.poll()
    poller.register(fd, 0)
    return bool(poller.poll(0))


class Chunks:
    """A job's items as the iterator that the server streams.

    The job's attribute complete says that its last item has been given out.
    """

    def __init__(self, runner, job):
        self._runner = runner
        self._job = job
        self._over = False

    def __iter__(self):
        return self

    def __next__(self):
        item = self._runner.run(self._job.take())
        if item is not END:
            return item
        self.close()
        if not self._job.complete:
            raise RuntimeError("the application ended before its answer did")
        raise StopIteration

    def close(self):
        """Ends the job; one that has given out all may finish its work."""
        if self._over:
            return
        self._over = True
        job = self._job
        err = self._runner.run(job.end(kill=not job.complete))
        if job.gone:
            raise ClientGone
        if err is not None and job.complete:
            complain(describe(err))  # the answer is out, and right
        elif err is not None:
            raise err


class _Generator(Job):
    """An asynchronous generator whose items go out one by one."""

    complete = False

    async def drain(self, items):
        """Gives out all items, then lets the generator clean up."""
        try:
            async for item in items:
                await self.put(item)
            self.complete = True
        finally:
            await items.aclose()


def event(call, runner):
    """The app for call(event, request), which makes a coroutine or a generator."""
    def app(req):
        value = apps.body(req)
        if type(value) is Response:
            return value
        made = call(value, req)
        if hasattr(made, "__anext__"):
            return _streamed(runner, req, 200, [], made)
        job = Job(runner, req)
        result, err = runner.run(job.finish(made))
        if job.gone:
            raise ClientGone
        if err is not None:
            raise err
        return _respond(runner, req, result)
    app.watches = True
    return app


def _respond(runner, req, result):
    if hasattr(result, "__anext__"):
        return _streamed(runner, req, 200, [], result)
    if isinstance(result, tuple) and apps.is_answer(result) and hasattr(result[2], "__anext__"):
        return _streamed(runner, req, result[0], apps.fields(result[1]), result[2])
    return apps.respond(result)


def _streamed(runner, req, status, headers, items):
    job = _Generator(runner, req)

    async def begin():
        job.start(job.drain(items))
    runner.run(begin())
    return Response(status, headers, apps.Stream(Chunks(runner, job), headers))
