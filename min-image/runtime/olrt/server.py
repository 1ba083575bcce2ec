"""Serving an app over HTTP/1.1 on a listening unix-domain socket.

One epoll loop reads all connections; a request is dispatched only when it has
arrived completely, so a slow sender holds up nobody. With slots == 1 the app
runs on the main thread, one request at a time, and is interrupted when its
client goes (see interrupt). With slots > 1 it runs on up to that many
threads and is not interrupted.

An app is a callable from http1.Request to http1.Response. Whatever it raises
is answered with 500; SystemExit too. An app with the attribute watches = True
notices itself that its client has gone; one with early = True is called when
the head of a request is there and takes the body as it comes (see aio). Every answer is framed: Content-Length
when the body is bytes, chunked when it is an iterator (HTTP/1.0 clients get
an end by close), so that no client waits for the end of a connection.

GET /.ol/ping with the header X-Ol-Ping is answered with 204 by the loop
itself, never by the app: with slots == 1 that proves that no handler is
running; with slots > 1 only that the process is alive.
"""

import os
import queue
import select
import socket
import sys
import threading

from . import reaper
from .faults import complain, describe
from .http1 import ProtocolError, RequestReader, Response, head, text
from .interrupt import ClientGone, Interrupter

_RECV = 64 * 1024
_INLINE = 64 * 1024  # larger bodies are sent without joining them to their head
_PING = b"/.ol/ping"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"
_NO_CONTENT_CLOSE = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


class Options:
    """How to serve.

    slots     requests served at once; 1 means on the main thread
    max_body  largest request body, and largest answer body, in bytes
    """

    def __init__(self, slots=1, max_body=64 << 20):
        if slots < 1 or max_body < 0:
            raise ValueError("slots must be positive and max_body not negative")
        self.slots = slots
        self.max_body = max_body


class _Conn:
    """One accepted connection. Owned by the loop, or by one serving thread."""

    __slots__ = ("sock", "fd", "reader", "watch", "draining")

    def __init__(self, sock, max_body, early):
        self.sock = sock
        self.fd = sock.fileno()
        self.reader = RequestReader(max_body, self._say_continue, early)
        self.watch = None
        self.draining = -1  # bytes to discard before the end; -1: not draining

    def _say_continue(self):
        self.sock.sendall(_CONTINUE)


def serve(listener, app, options=None, output=None):
    """Serves until the process ends. Call it on the main thread.

    listener is a listening AF_UNIX socket, output an installed output.Output
    or None.
    """
    server = Server(app, options or Options(), output)
    server.guard_forks()
    server.interrupter.install()
    server.run(listener)


class Server:
    """The loop and its connections."""

    def __init__(self, app, options, output=None):
        self.app = app
        self.max_body = options.max_body
        self.slots = options.slots
        self._early = getattr(app, "early", False)
        self._watched = self.slots == 1 and not getattr(app, "watches", False)
        self.output = output
        self.interrupter = Interrupter()
        self._conns = {}
        self._epoll = None
        self._listener = None
        self._forked = False
        self._jobs = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)  # threads waiting for a job
        self._threads_mu = threading.Lock()
        self._threads = 0  # guarded by _threads_mu

    # The loop.

    def run(self, listener):
        """Accepts and serves for ever."""
        listener.setblocking(False)
        self._listener = listener
        self._epoll = epoll = select.epoll()
        epoll.register(listener.fileno(), select.EPOLLIN)
        accept_fd, conns, poll = listener.fileno(), self._conns, epoll.poll
        while True:
            for fd, _ in poll():
                if fd == accept_fd:
                    self._accept()
                else:
                    conn = conns.get(fd)
                    if conn is not None:
                        self.serve_ready(conn)

    def _accept(self):
        try:
            sock, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionError):
            return
        conn = self.adopt(sock)
        mask = select.EPOLLIN if self.slots == 1 else select.EPOLLIN | select.EPOLLONESHOT
        self._epoll.register(conn.fd, mask)

    def adopt(self, sock):
        """Makes a connected socket a connection of this server."""
        sock.setblocking(True)
        conn = _Conn(sock, self.max_body, self._early)
        if self._watched:
            conn.watch = self.interrupter.watch(sock)
        self._conns[conn.fd] = conn
        return conn

    def _close(self, conn):
        self._conns.pop(conn.fd, None)
        conn.sock.close()

    def serve_ready(self, conn):
        """Reads what has arrived on the connection and serves what is complete."""
        try:
            data = conn.sock.recv(_RECV, socket.MSG_DONTWAIT)
        except (BlockingIOError, InterruptedError):
            self._rearm(conn)
            return
        except OSError:
            data = b""
        if not data:
            self._close(conn)
        elif conn.draining >= 0:
            self._drain(conn, len(data))
        else:
            conn.reader.feed(data)
            self.advance(conn)

    def _rearm(self, conn):
        """Lets the loop watch the connection again after a one-shot event."""
        if self.slots > 1:
            try:
                self._epoll.modify(conn.fd, select.EPOLLIN | select.EPOLLONESHOT)
            except OSError:
                self._close(conn)

    def advance(self, conn):
        """Serves what has arrived completely on the connection."""
        while True:
            try:
                req = conn.reader.next()
            except ProtocolError as err:
                self._refuse(conn, err)
                return
            except OSError:
                self._close(conn)
                return
            except MemoryError:
                self._refuse(conn, ProtocolError(413, "request body does not fit into memory"))
                return
            if req is None:
                self._rearm(conn)
                return
            if req.target == _PING and req.header(b"x-ol-ping") is not None:
                keep = self._pong(conn, req)
            elif self.slots == 1:
                keep = self._serve(conn, req)
            else:
                self._hand_over(conn, req)
                return
            if not keep:
                self._close(conn)
                return

    def _pong(self, conn, req):
        try:
            conn.sock.sendall(_NO_CONTENT_CLOSE if req.close else _NO_CONTENT)
        except OSError:
            return False
        return not req.close

    # Refusals.

    def _refuse(self, conn, err):
        """Answers a request that could not be read, then lets the peer read it.

        Closing at once with unread input would reset the connection under the
        answer, so input is discarded until the peer closes.
        """
        try:
            self._send(conn.sock, None, text(err.status, err.text + "\n"), True)
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._close(conn)
            return
        conn.reader = None
        conn.draining = self.max_body + _RECV
        self._rearm(conn)

    def _drain(self, conn, n):
        conn.draining -= n
        if conn.draining < 0:
            self._close(conn)
        else:
            self._rearm(conn)

    # Threads, for slots > 1.

    def _hand_over(self, conn, req):
        if self._idle.acquire(blocking=False) or self._spawn():
            self._jobs.put((conn, req))
        else:
            self._finish(conn, self._reply(conn, req, text(
                503, "the sandbox cannot start a thread\n")))

    def _spawn(self):
        """Starts a thread unless all run; whether one will come for a job."""
        with self._threads_mu:
            if self._threads < self.slots:
                try:
                    threading.Thread(target=self._work, daemon=True).start()
                    self._threads += 1
                except RuntimeError:  # the limit of processes and threads is reached
                    pass
            return self._threads > 0

    def _work(self):
        while True:
            conn, req = self._jobs.get()
            keep = self._serve(conn, req)
            self._idle.release()
            self._finish(conn, keep)

    def _finish(self, conn, keep):
        if keep:
            self.advance(conn)
        else:
            self._close(conn)

    # One request.

    def _serve(self, conn, req):
        """Runs the app and answers; whether the connection can be used again."""
        output, ident = self.output, req.ident
        req.conn = conn
        if output is not None:
            output.begin(ident)
        try:
            resp = self._call(conn.watch, self.app, req)
            if self._forked:
                self._end_child(0)
            if resp is None:
                return False
            return self._reply(conn, req, resp)
        finally:
            if conn.watch is not None:
                conn.watch.rest()
            if output is not None:
                output.end(ident)
            reaper.reap()

    def _call(self, watch, func, arg):
        """func(arg), whatever happens in it; None when the client has gone."""
        try:
            try:
                if watch is not None:
                    watch.arm()
                return func(arg)
            except ClientGone:
                raise
            except BaseException as err:
                return self._failed(err)
            finally:
                if watch is not None:
                    watch.release()
        except ClientGone:
            if watch is not None:
                watch.release()
            return None

    def _failed(self, err):
        """The answer for what a handler raised."""
        if self._forked:
            self._end_child(err)
        try:
            if isinstance(err, SystemExit):
                return text(500, "handler called sys.exit(%s)\n"
                            % ("" if err.code is None else str(err.code)))
            return text(500, describe(err))
        except ClientGone:
            raise
        except BaseException as second:  # out of memory again, or a hostile __str__
            name = type.__dict__["__name__"].__get__(type(err))
            del second
            return text(500, "handler raised " + name + "\n")

    def _reply(self, conn, req, resp):
        close = req.close
        try:
            if isinstance(resp.body, (bytes, bytearray, memoryview)):
                return self._send(conn.sock, req, resp, close)
            return self._stream(conn, req, resp, close)
        except OSError:
            return False
        except Exception as err:  # the answer is not what an app may return
            complain(describe(err))
            return False

    def _send(self, sock, req, resp, close):
        body = resp.body
        n = len(body)
        if n > self.max_body:
            resp = text(413, "answer of %d bytes is larger than %d bytes\n" % (n, self.max_body))
            body = resp.body
            n = len(body)
        bodyless = resp.status in (204, 304)
        if bodyless:
            framing = b""
        elif resp.length is not None and req is not None and req.method == b"HEAD":
            framing = b"Content-Length: %d\r\n" % resp.length
        else:
            framing = b"Content-Length: %d\r\n" % n
        try:
            start = head(resp, framing, close)
        except (ValueError, AttributeError, TypeError) as err:
            resp = text(500, "invalid answer: %s\n" % err)
            return self._send(sock, req, resp, close)
        if bodyless or (req is not None and req.method == b"HEAD"):
            sock.sendall(start)
        elif n <= _INLINE:
            sock.sendall(start + body)
        else:
            sock.sendall(start)
            sock.sendall(body)
        return not close

    # Streamed answers.

    def _stream(self, conn, req, resp, close):
        """Sends an iterator's chunks as they come.

        A failure before the first chunk is still answered with 500; after it
        the connection is cut, which the client sees as a broken answer.
        """
        chunks = iter(resp.body)
        try:
            first = self._pull(conn, chunks)
            if isinstance(first, Response):
                return self._send(conn.sock, req, first, close)
            if first is None:
                return False
            if req.method == b"HEAD" or resp.status in (204, 304):
                return self._stream_head(conn, req, resp, close)
            return self._stream_body(conn, req, resp, close, first, chunks)
        finally:
            self._end_stream(conn, resp.body)

    def _stream_head(self, conn, req, resp, close):
        framing = b"" if resp.status in (204, 304) else self._framing(req, resp)
        conn.sock.sendall(head(resp, framing, close))
        return not close

    def _framing(self, req, resp):
        if resp.length is not None:
            return b"Content-Length: %d\r\n" % resp.length
        return b"" if req.minor == 0 else b"Transfer-Encoding: chunked\r\n"

    def _stream_body(self, conn, req, resp, close, chunk, chunks):
        framing = self._framing(req, resp)
        chunked = framing.startswith(b"T")
        close = close or not framing
        send = conn.sock.sendall
        try:
            start = head(resp, framing, close)
        except (ValueError, AttributeError, TypeError) as err:
            return self._send(conn.sock, req, text(500, "invalid answer: %s\n" % err), close)
        send(start)
        sent, limit = 0, self.max_body if resp.length is None else resp.length
        while chunk is not _END:
            sent += len(chunk)
            if sent > limit:
                complain("streamed answer larger than %d bytes; cut off" % limit)
                return False
            if chunk:
                send(b"%x\r\n%b\r\n" % (len(chunk), chunk) if chunked else chunk)
            chunk = self._pull(conn, chunks)
            if isinstance(chunk, Response):
                complain(bytes(chunk.body).decode("utf-8", "replace"))
                return False
            if chunk is None:
                return False
        if chunked:
            send(b"0\r\n\r\n")
        return not close and (resp.length is None or sent == resp.length)

    def _pull(self, conn, chunks):
        """The next chunk, _END, None (client gone) or the Response of a failure."""
        chunk = self._call(conn.watch, _next, chunks)
        if self._forked:
            self._end_child(0)
        return chunk

    def _end_stream(self, conn, body):
        close = getattr(body, "close", None)
        if close is not None:
            failed = self._call(conn.watch, _closing, close)
            if isinstance(failed, Response):
                complain(bytes(failed.body).decode("utf-8", "replace"))

    # Forks made by handlers.

    def guard_forks(self):
        """Makes a process forked by a handler leave the connections alone."""
        os.register_at_fork(after_in_child=self._in_child)

    def _in_child(self):
        self._forked = True
        self.interrupter.drop()
        for conn in list(self._conns.values()):
            conn.sock.close()
        if self._listener is not None:
            self._listener.close()
        if self._epoll is not None:
            self._epoll.close()

    def _end_child(self, outcome):
        """Ends a forked child that came back from the handler; never returns."""
        code = 0
        if isinstance(outcome, SystemExit):
            code = outcome.code if isinstance(outcome.code, int) else int(outcome.code is not None)
        elif isinstance(outcome, BaseException):
            code = 1
            complain(describe(outcome))
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code & 0xFF)


_END = object()


def _next(chunks):
    chunk = next(chunks, _END)
    if chunk is not _END and not isinstance(chunk, (bytes, bytearray, memoryview)):
        raise TypeError("streamed answer yields %s, not bytes" % type(chunk).__name__)
    return chunk


def _closing(close):
    close()
