"""Functions as apps: f(event) as OpenLambda defines it, and f(event, context).

The event is the request's JSON body, {} when it is empty; the answer is the
result as JSON. Further results: bytes as they are, a generator as a streamed
answer, and (status, headers, body) for full control.
"""

import json
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
    """What a handler(event, context) is told about its request."""

    __slots__ = ("request_id", "method", "path", "headers")

    def __init__(self, req):
        self.request_id = req.ident.decode("ascii") if req.ident else ""
        self.method = req.method.decode("ascii")
        self.path = req.target.decode("latin-1")
        self.headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in req.headers]


def event(func):
    """The app for f(event)."""
    def app(req):
        try:
            value = decode(req.body) if req.body else {}
        except (ValueError, RecursionError) as err:
            return text(400, "request body is not JSON: %s\n" % err)
        req.body = None  # large ones are not held twice while the handler runs
        return respond(func(value))
    return _checked(func, app)


def with_context(func):
    """The app for handler(event, context); handler(event) is taken as well."""
    if _positional(func) == 1:
        return event(func)

    def app(req):
        try:
            value = decode(req.body) if req.body else {}
        except (ValueError, RecursionError) as err:
            return text(400, "request body is not JSON: %s\n" % err)
        req.body = None
        return respond(func(value, Context(req)))
    return _checked(func, app)


def _checked(func, app):
    if _flags(func) & _CO_COROUTINE:
        raise TypeError("%s is a coroutine function; only plain functions can be served"
                        % getattr(func, "__name__", func))
    return app


# Code flags as in the data model's description of code objects; the inspect
# module, which names them, costs a start more than the rest of this package.
_CO_VARARGS = 0x04
_CO_COROUTINE = 0x80


def _code(func):
    func = getattr(func, "__func__", func)
    return getattr(func, "__code__", None)


def _flags(func):
    code = _code(func)
    return 0 if code is None else code.co_flags


def _positional(func):
    """How many positional arguments the function takes, at most 2."""
    code = _code(func)
    if code is None or code.co_flags & _CO_VARARGS:
        return 2
    return min(2, code.co_argcount - (getattr(func, "__self__", None) is not None))


def respond(result):
    """The answer for what a handler returned."""
    if isinstance(result, (bytes, bytearray)):
        return Response(200, _BYTES, result)
    if isinstance(result, types.GeneratorType):
        return _streamed(200, None, result)
    if isinstance(result, tuple) and _is_answer(result):
        return _explicit(*result)
    return Response(200, _JSON_LINE, encode(result).encode())


def _is_answer(result):
    return (len(result) == 3 and type(result[0]) is int and 200 <= result[0] <= 599
            and isinstance(result[1], (dict, list)))


def _explicit(status, headers, body):
    fields = list(headers.items() if isinstance(headers, dict) else headers)
    fields = [(str(name), str(value)) for name, value in fields]
    if isinstance(body, types.GeneratorType):
        return _streamed(status, fields, body)
    if isinstance(body, (bytes, bytearray)):
        kind, data = _BYTES, body
    elif isinstance(body, str):
        kind, data = _TEXT, body.encode("utf-8")
    elif body is None:
        kind, data = [], b""
    else:
        kind, data = _JSON, encode(body).encode()
    return Response(status, _with_type(fields, kind), data)


def _with_type(fields, kind):
    if any(name.lower() == "content-type" for name, _ in fields):
        return fields
    return kind + fields


class _Stream:
    """A generator's items as bytes; the first one decides the content type.

    The headers list is completed before the server sends it: the server pulls
    the first chunk before the head.
    """

    def __init__(self, items, headers, typed):
        self._items = items
        self._headers = headers
        self._typed = typed

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


def _streamed(status, fields, items):
    headers = list(fields or [])
    typed = any(name.lower() == "content-type" for name, _ in headers)
    return Response(status, headers, _Stream(items, headers, typed))
