"""Functions as apps: f(event) as OpenLambda defines it, and f(event, context).

The event is the request's JSON body, {} when it is empty; the answer is the
result as JSON. Further results: bytes as they are, a generator as a streamed
answer, and (status, headers, body) for full control. Coroutine functions are
served by aio.
"""

import json
import time
import types

from .http1 import Response, text

_JSON = [("Content-Type", "application/json")]
_JSON_LINE = b"Content-Type: application/json\r\n"
_BYTES = [("Content-Type", "application/octet-stream")]
_TEXT = [("Content-Type", "text/plain; charset=utf-8")]
_LINES = [("Content-Type", "application/x-ndjson")]


def _make_encode():
    """json.dumps without its preparation for every call, which costs more than
    encoding a small value does; the same text comes out."""
    encoder = json.JSONEncoder(check_circular=False)  # a cycle is a RecursionError
    try:
        run = json.encoder.c_make_encoder(
            None, encoder.default, json.encoder.encode_basestring_ascii, None,
            encoder.key_separator, encoder.item_separator, False, False, True)
        probe = {"a": [1, 2.5, None, True, "\u00e9"]}
        if "".join(run(probe, 0)) == json.dumps(probe):
            return lambda value: "".join(run(value, 0))
    except (AttributeError, TypeError):
        pass  # another Python implementation or version
    return json.dumps


encode = _make_encode()
_scan = json.JSONDecoder().scan_once


def decode(body):
    """json.loads(body), faster for the ordinary: UTF-8 without outer space."""
    try:
        string = str(body, "utf-8")
        value, end = _scan(string, 0)
        if end == len(string):
            return value
    except (StopIteration, ValueError):
        pass  # said properly by loads
    return json.loads(body)


class Context:
    """What a handler(event, context) is told about its request.

    request_id       as in X-Ol-Request-Id
    function_name    name of the lambda
    memory_limit_mb  of the sandbox, MiB; 0: none
    deadline         seconds since the epoch at which it is cut off; None: never
    method, path     of the request, path with the query
    headers          list of (name in lower case, value)

    Handlers written for other platforms find memory_limit_in_mb,
    aws_request_id and get_remaining_time_in_millis() as well.
    """

    __slots__ = ("request_id", "function_name", "memory_limit_mb", "deadline",
                 "method", "path", "headers", "_end")

    def __init__(self, req, about):
        self.request_id = req.ident.decode("ascii") if req.ident else ""
        self.function_name = about["function"]
        self.memory_limit_mb = about["mem_mb"]
        self.method = req.method.decode("ascii")
        self.path = req.target.decode("latin-1")
        self.headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in req.headers]
        limit = _limit(req, about["runtime_ms"])
        self._end = self.deadline = None
        if limit:
            self._end = time.monotonic() + limit / 1000
            self.deadline = time.time() + limit / 1000

    def remaining_ms(self):
        """Milliseconds that are left, 0 at least; None when there is no limit."""
        if self._end is None:
            return None
        return max(0, int((self._end - time.monotonic()) * 1000))

    get_remaining_time_in_millis = remaining_ms
    memory_limit_in_mb = property(lambda self: self.memory_limit_mb)
    aws_request_id = property(lambda self: self.request_id)


NOTHING = {"function": "", "mem_mb": 0, "runtime_ms": 0}


def _limit(req, limit):
    """Milliseconds that a request may take: the lambda's limit or the caller's."""
    value = req.header(b"x-ol-timeout-ms")
    if value is not None and value.isdigit():
        return min(int(value), limit or int(value))
    return limit


def event(func):
    """The app for f(event)."""
    def app(req):
        try:
            value = decode(req.body) if req.body else {}
        except (ValueError, RecursionError) as err:
            return _no_json(err)
        req.body = None  # large ones are not held twice while the handler runs
        return respond(func(value))
    return app


def with_context(func, about=NOTHING):
    """The app for handler(event, context); handler(event) is taken as well."""
    if positional(func) == 1:
        return event(func)
    call = caller(func, about)

    def app(req):
        value = body(req)
        if type(value) is Response:
            return value
        return respond(call(value, req))
    return app


def caller(func, about):
    """call(event, request), which gives func what it takes."""
    if positional(func) == 1:
        return one(func)
    return lambda value, req: func(value, Context(req, about))


def one(func):
    """call(event, request) for a function of the event alone."""
    return lambda value, req: func(value)


def body(req):
    """The event in a request, or the Response that refuses it."""
    try:
        value = decode(req.body) if req.body else {}
    except (ValueError, RecursionError) as err:
        return _no_json(err)
    req.body = None
    return value


def _no_json(err):
    return text(400, "request body is not JSON: %s\n" % err)


# Code flags as in the data model's description of code objects; the inspect
# module, which names them, costs a start more than the rest of this package.
_CO_VARARGS = 0x04
_CO_COROUTINE = 0x80
_CO_ASYNC_GENERATOR = 0x200


def is_async(func):
    """Whether calling func makes a coroutine or an asynchronous generator."""
    while hasattr(func, "func") and hasattr(func, "keywords"):  # functools.partial
        func = func.func
    code = _code(func)
    if code is None:
        code = _code(getattr(type(func), "__call__", None))
    return code is not None and code.co_flags & (_CO_COROUTINE | _CO_ASYNC_GENERATOR) != 0


def _code(func):
    func = getattr(func, "__func__", func)
    return getattr(func, "__code__", None)


def positional(func):
    """How many positional arguments the function takes, at most 2."""
    code = _code(func)
    if code is None or code.co_flags & _CO_VARARGS:
        return 2
    return min(2, code.co_argcount - (getattr(func, "__self__", None) is not None))


_PLAIN = frozenset((dict, list, str, int, float, bool, type(None)))


def respond(result):
    """The answer for what a handler returned."""
    if type(result) in _PLAIN:
        return Response(200, _JSON_LINE, encode(result).encode())
    if isinstance(result, (bytes, bytearray)):
        return Response(200, _BYTES, result)
    if isinstance(result, types.GeneratorType):
        headers = []
        return Response(200, headers, Stream(result, headers))
    if isinstance(result, tuple) and is_answer(result):
        return _explicit(*result)
    return Response(200, _JSON_LINE, encode(result).encode())


def is_answer(result):
    """Whether a tuple is (status, headers, body)."""
    return (len(result) == 3 and type(result[0]) is int and 200 <= result[0] <= 599
            and isinstance(result[1], (dict, list)))


def fields(headers):
    """The headers of an explicit answer as a new list of pairs of strings."""
    pairs = headers.items() if isinstance(headers, dict) else headers
    return [(str(name), str(value)) for name, value in pairs]


def _explicit(status, headers, body):
    headers = fields(headers)
    if isinstance(body, types.GeneratorType):
        return Response(status, headers, Stream(body, headers))
    if isinstance(body, (bytes, bytearray)):
        kind, data = _BYTES, body
    elif isinstance(body, str):
        kind, data = _TEXT, body.encode("utf-8")
    elif body is None:
        kind, data = [], b""
    else:
        kind, data = _JSON, encode(body).encode()
    if not _typed(headers):
        headers = kind + headers
    return Response(status, headers, data)


def _typed(headers):
    return any(name.lower() == "content-type" for name, _ in headers)


class Stream:
    """A generator's items as bytes; the first one decides the content type.

    The list of headers is completed before the server sends it: the server
    pulls the first chunk before the head.
    """

    def __init__(self, items, headers):
        self._items = items
        self._headers = headers
        self._typed = _typed(headers)

    def __iter__(self):
        return self

    def __next__(self):
        item = next(self._items)
        if isinstance(item, (bytes, bytearray, memoryview)):
            kind, data = _BYTES, item
        elif isinstance(item, str):
            kind, data = _TEXT, item.encode("utf-8")
        else:
            kind, data = _LINES, encode(item).encode() + b"\n"
        if not self._typed:
            self._typed = True
            self._headers.extend(kind)
        return data

    def close(self):
        """Ends the generator, running its clean-up."""
        self._items.close()
