"""A WSGI application that OL_WSGI_ENTRY names, beside an f that must not be called."""


def entry(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"entry %s\n" % environ["REQUEST_METHOD"].encode()]


def f(event):
    raise RuntimeError("OL_WSGI_ENTRY comes first")
