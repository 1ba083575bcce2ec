"""What a request was for and who sent it, as web applications ask for it.

The worker forwards the caller's Host and adds X-Forwarded-For and -Proto; the
last address of X-Forwarded-For is that of who connected to the worker.
"""

import re


def split(path):
    """(/run/<name>, the rest or "/") of a path as latin-1; ("", path) of any other."""
    parts = path.split("/", 3)
    if len(parts) >= 3 and parts[1] == "run":
        script = "/run/" + parts[2]
        return script, unquote("/" + (parts[3] if len(parts) > 3 else ""))
    return "", unquote(path)


_escape = re.compile("%([0-9A-Fa-f]{2})")


def unquote(path):
    """Decodes escapes into characters that stand for bytes (latin-1)."""
    return _escape.sub(lambda match: chr(int(match.group(1), 16)), path)


def scheme(req):
    """http, or https when that is how the caller came."""
    value = req.header(b"x-forwarded-proto") or b""
    return "https" if value.split(b",")[-1].strip().lower() == b"https" else "http"


def client(req):
    """The address of who connected to the worker."""
    value = req.header(b"x-forwarded-for") or b"127.0.0.1"
    return value.split(b",")[-1].strip().decode("latin-1")


def server(req, scheme):
    """(host, port) as the caller named them, in Host."""
    value = (req.header(b"host") or b"localhost").decode("latin-1")
    port = 443 if scheme == "https" else 80
    host, colon, digits = value.rpartition(":")
    if colon and digits.isdigit() and len(digits) <= 5:
        return host, int(digits)
    return value, port
