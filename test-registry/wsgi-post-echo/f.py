"""A WSGI application that answers with the body that it was sent, and its type."""


def app(environ, start_response):
    body = environ["wsgi.input"].read()
    kind = environ.get("CONTENT_TYPE") or "application/octet-stream"
    start_response("200 OK", [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]
