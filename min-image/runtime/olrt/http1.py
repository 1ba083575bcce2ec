"""HTTP/1.1 messages: an incremental request reader and response heads.

The reader is strict where two readings of a message are possible (length and
coding both given, folded fields, bare line feeds): it refuses, so that the
worker and the runtime never disagree on where a request ends.
"""

import re

MAX_HEAD = 64 * 1024  # bytes of request line and fields, and of a chunk's trailers
MAX_CHUNK_LINE = 1024  # bytes of a chunk-size line with its extensions

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_request_line = re.compile(rb"(" + _TOKEN + rb") ([!-~\x80-\xff]+) HTTP/(\d)\.(\d)").fullmatch
_field = re.compile(rb"(" + _TOKEN + rb"):([^\x00-\x08\x0a-\x1f\x7f]*)").fullmatch
_chunk_line = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?").fullmatch

REASONS = {
    100: "Continue", 101: "Switching Protocols", 200: "OK", 201: "Created",
    202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
    205: "Reset Content", 206: "Partial Content", 300: "Multiple Choices",
    301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
    307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 409: "Conflict", 410: "Gone",
    413: "Content Too Large", 415: "Unsupported Media Type",
    417: "Expectation Failed", 418: "I'm a Teapot", 422: "Unprocessable Content",
    429: "Too Many Requests", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
    503: "Service Unavailable", 504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
}


class ProtocolError(Exception):
    """A request that cannot be taken; the connection ends after the answer."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status
        self.text = text


class Request:
    """One request. Header names are lower-case; order and duplicates are kept.

    partial says that the body is still to come, through the reader of conn.
    """

    __slots__ = ("method", "target", "minor", "headers", "body",
                 "length", "chunked", "expect", "close", "ident",
                 "partial", "conn")

    def header(self, name):
        """The first value of the field with the lower-case name (bytes), or None."""
        for key, value in self.headers:
            if key == name:
                return value
        return None


class Response:
    """An answer. body is bytes-like, or an iterator of bytes to be streamed.

    headers is a list of (name, value) strings, or the ready bytes of such
    lines; Content-Length, Transfer-Encoding and Connection in a list are
    dropped, for framing is the server's business.
    length is the length that a streamed body was promised to have, or None.
    """

    __slots__ = ("status", "reason", "headers", "body", "length")

    def __init__(self, status, headers, body, reason=None, length=None):
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
        self.length = length


def text(status, message):
    """A plain-text answer."""
    return Response(status, b"Content-Type: text/plain; charset=utf-8\r\n",
                    message.encode("utf-8", "backslashreplace"))


def parse_head(head):
    """Reads the request line and the fields, without the empty line."""
    lines = head.split(b"\r\n")
    req = Request()
    req.method, req.target, req.minor = _known_starts.get(lines[0]) or _parse_request_line(lines[0])
    req.body = b""
    req.length = req.ident = None
    req.chunked = req.expect = req.partial = False
    req.close = req.minor == 0
    req.headers = headers = []
    del lines[0]
    for line in lines:
        field = _known.get(line)
        if field is None:
            field = _parse_field(line)
        headers.append(field[0])
        if field[1] is not None:
            field[1](req, field[0][1])
    if req.chunked and req.length is not None:
        raise ProtocolError(400, "both Content-Length and Transfer-Encoding")
    if req.target[0] != 47:  # not "/"
        req.target = _origin_form(req)
    return req


def _parse_request_line(line):
    """(method, target, minor version)."""
    match = _request_line(line)
    if match is None:
        raise ProtocolError(400, "malformed request line")
    method, target, major, minor = match.groups()
    if major != b"1":
        raise ProtocolError(505, "HTTP version not supported")
    parsed = method, target, 0 if minor == b"0" else 1
    if len(_known_starts) < _MAX_KNOWN and len(line) <= 100:
        _known_starts[line] = parsed
    return parsed


def _parse_field(line):
    """((name, value), what else to do with it or None)."""
    match = _field(line)
    if match is None:
        raise ProtocolError(400, "malformed header field")
    name, value = match.groups()
    name = name.lower()
    field = (name, value.strip(b" \t")), _SPECIAL.get(name)
    if len(_known) < _MAX_KNOWN and len(line) <= 100 and name != b"x-ol-request-id":
        _known[line] = field
    return field


# Lines seen before, parsed: the worker repeats most of them in every request.
# Bounded, and never emptied, so that a flood of different lines costs nothing.
_MAX_KNOWN = 128
_known = {}
_known_starts = {}


def _origin_form(req):
    if req.target == b"*" and req.method == b"OPTIONS":
        return req.target
    scheme, sep, rest = req.target.partition(b"://")
    if not sep or scheme.lower() not in (b"http", b"https"):
        raise ProtocolError(400, "malformed request target")
    path = rest.find(b"/")
    query = rest.find(b"?")
    if path >= 0 and (query < 0 or path < query):
        return rest[path:]
    return b"/" + rest[query:] if query >= 0 else b"/"


def _content_length(req, value):
    if not value.isdigit() or len(value) > 18:
        raise ProtocolError(400, "malformed Content-Length")
    if req.length is not None and req.length != int(value):
        raise ProtocolError(400, "contradicting Content-Length fields")
    req.length = int(value)


def _transfer_encoding(req, value):
    if req.minor == 0 or req.chunked:
        raise ProtocolError(400, "unexpected Transfer-Encoding")
    if value.lower() != b"chunked":
        raise ProtocolError(501, "transfer coding not supported")
    req.chunked = True


def _connection(req, value):
    tokens = value.lower().replace(b" ", b"").split(b",")
    if b"close" in tokens:
        req.close = True
    elif req.minor == 0 and b"keep-alive" in tokens:
        req.close = False


def _expect(req, value):
    if value.lower() != b"100-continue":
        raise ProtocolError(417, "expectation not supported")
    req.expect = req.minor == 1


_printable = re.compile(rb"[!-~]{1,200}").fullmatch


def _ident(req, value):
    if _printable(value):
        req.ident = value


_SPECIAL = {
    b"content-length": _content_length,
    b"transfer-encoding": _transfer_encoding,
    b"connection": _connection,
    b"expect": _expect,
    b"x-ol-request-id": _ident,
}


class RequestReader:
    """Turns the bytes of one connection into requests, in any fragmentation.

    feed takes what arrived, next gives the next complete request or None. A
    request is given out only when its body is complete, at most max_body
    bytes. An early reader gives it out when its head is complete; more then
    takes the body as it comes, and next skips what nobody took. After a
    ProtocolError the reader is of no further use.
    """

    __slots__ = ("max_body", "buf", "req", "left", "seen", "in_trailer", "trailer", "on_expect", "early")

    def __init__(self, max_body, on_expect, early=False):
        self.max_body = max_body
        self.on_expect = on_expect  # called when the client waits for 100 Continue
        self.early = early
        self.buf = b""
        self.req = None  # whose body is being read
        self.left = 0  # bytes still to come of the body or the chunk
        self.seen = 0  # bytes of chunks announced so far
        self.in_trailer = False
        self.trailer = 0  # bytes of trailers seen

    def feed(self, data):
        """Takes bytes that arrived on the connection."""
        self.buf = self.buf + data if self.buf else data

    def next(self):
        """Returns the next complete request, or None; raises ProtocolError."""
        if self.early:
            return self._next_early()
        if self.req is None and not self._head():
            return None
        req = self.req
        if req.chunked:
            if not self._chunks(req):
                return None
        elif self.left and not self._take(req):
            return None
        self.req = None
        return req

    def _next_early(self):
        while self.req is not None:  # what nobody took of the last request's body
            data, done = self.more()
            if not done and not data:
                return None
        if not self._head():
            return None
        req = self.req
        req.partial = req.chunked or self.left > 0
        if not req.partial:
            self.req = None
        return req

    def more(self):
        """What has arrived of a partial request's body, and whether that is all."""
        req = self.req
        if req is None:
            return b"", True
        done = self._chunks(req) if req.chunked else self._take(req)
        data, req.body = bytes(req.body), bytearray()
        if done:
            self.req = None
        return data, done

    def _head(self):
        buf = self.buf
        if not buf:
            return False
        end = buf.find(b"\r\n\r\n")
        if end < 0 or end > MAX_HEAD:
            self._check_partial(buf)
            return False
        start = 0
        while buf.startswith(b"\r\n", start):  # empty lines between requests, RFC 9112 2.2
            start += 2
        if start > end:
            self.buf = buf[start:]
            return self._head()
        req = parse_head(buf[start:end])
        self.buf = buf[end + 4:]
        self.left = 0 if req.chunked else (req.length or 0)
        if self.left > self.max_body:
            raise self._too_large()
        if 0 < self.left <= len(self.buf):
            req.body = self.buf[:self.left]
            self.buf = self.buf[self.left:]
            self.left = 0
        elif self.left or req.chunked:
            req.body = bytearray()
            self.in_trailer = False
            self.trailer = self.seen = 0
            if req.expect and not self.buf:
                self.on_expect()
        self.req = req
        return True

    def _check_partial(self, buf):
        if len(buf) > MAX_HEAD:
            raise ProtocolError(431, "request head too large")
        if buf.count(b"\n") != buf.count(b"\r\n"):
            raise ProtocolError(400, "bare line feed in request head")

    def _too_large(self):
        return ProtocolError(413, "request body larger than %d bytes" % self.max_body)

    def _take(self, req):
        """Moves up to left bytes into the body; whether none is left to come."""
        buf = self.buf
        if len(buf) <= self.left:
            req.body += buf
            self.left -= len(buf)
            self.buf = b""
        else:
            req.body += memoryview(buf)[:self.left]
            self.buf = buf[self.left:]
            self.left = 0
        return self.left == 0

    def _chunks(self, req):
        """Moves chunks into the body; whether the last chunk has been seen.

        left counts the chunk's data and the line end after it.
        """
        buf, pos = self.buf, 0
        try:
            while True:
                if self.in_trailer:
                    pos, done = self._trailer_line(buf, pos)
                    if done is not False:
                        return bool(done)
                    continue
                if self.left:
                    pos = self._chunk_data(req, buf, pos)
                    if self.left:
                        return False
                    continue
                end = buf.find(b"\r\n", pos)
                if end < 0:
                    self._check_chunk_line(buf, pos)
                    return False
                self._chunk_size(req, buf[pos:end])
                pos = end + 2
        finally:
            self.buf = buf[pos:]

    def _chunk_size(self, req, line):
        match = _chunk_line(line)
        if match is None or len(line) > MAX_CHUNK_LINE:
            raise ProtocolError(400, "malformed chunk size")
        size = int(match.group(1), 16)
        self.seen += size
        if self.seen > self.max_body:
            raise self._too_large()
        if size == 0:
            self.in_trailer = True
        else:
            self.left = size + 2

    def _check_chunk_line(self, buf, pos):
        if len(buf) - pos > MAX_CHUNK_LINE or b"\n" in buf[pos:]:
            raise ProtocolError(400, "malformed chunk size")

    def _chunk_data(self, req, buf, pos):
        want = self.left - 2
        if want > 0:
            part = memoryview(buf)[pos:pos + want]
            req.body += part
            self.left -= len(part)
            pos += len(part)
        if self.left == 2:
            end = buf[pos:pos + 2]
            if end == b"\r\n":
                self.left = 0
                pos += 2
            elif not b"\r\n".startswith(end):
                raise ProtocolError(400, "chunk without line end")
        return pos

    def _trailer_line(self, buf, pos):
        """Skips one trailer; (position, True: the end, None: more to come)."""
        end = buf.find(b"\r\n", pos)
        if end < 0:
            if len(buf) - pos > MAX_HEAD:
                raise ProtocolError(431, "trailers too large")
            if b"\n" in buf[pos:]:
                raise ProtocolError(400, "malformed trailer")
            return pos, None
        if end == pos:
            return end + 2, True
        self.trailer += end - pos
        if self.trailer > MAX_HEAD:
            raise ProtocolError(431, "trailers too large")
        if _field(buf[pos:end]) is None:
            raise ProtocolError(400, "malformed trailer")
        return end + 2, False


_bad_value = re.compile("[\x00-\x08\x0a-\x1f\x7f]").search
_name = re.compile("[!#$%&'*+\\-.^_`|~0-9A-Za-z]+").fullmatch
_FRAMING = frozenset(("content-length", "transfer-encoding", "connection",
                      "keep-alive", "te", "trailer", "upgrade", "proxy-connection"))
_lines = {code: ("HTTP/1.1 %d %s\r\n" % (code, reason)).encode("ascii")
          for code, reason in REASONS.items()}


def head(resp, framing, close):
    """The bytes of a response head; framing is a field line or empty.

    Raises ValueError on a field that would break the message.
    """
    end = b"Connection: close\r\n\r\n" if close else b"\r\n"
    if type(resp.headers) is bytes:
        return _status_line(resp) + resp.headers + framing + end
    out = [_status_line(resp)]
    for name, value in resp.headers:
        if _name(name) is None or _bad_value(value) is not None:
            raise ValueError("invalid header field %r: %r" % (name, value))
        if name.lower() not in _FRAMING:
            out.append(name.encode("ascii") + b": " + _latin(value) + b"\r\n")
    out.append(framing)
    out.append(end)
    return b"".join(out)


def _status_line(resp):
    if resp.reason is None:
        line = _lines.get(resp.status)
        if line is not None:
            return line
    if not 200 <= resp.status <= 999:
        raise ValueError("invalid status %r" % (resp.status,))
    reason = resp.reason or ""
    if _bad_value(reason) is not None:
        raise ValueError("invalid reason %r" % (reason,))
    return b"HTTP/1.1 %d %s\r\n" % (resp.status, _latin(reason))


def _latin(value):
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8")
