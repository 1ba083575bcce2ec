"""A WSGI application with two pages: /home, and /home/button, which counts.

Everything else is not found.
"""

count = 0


def app(environ, start_response):
    global count
    path = environ["PATH_INFO"]
    if path == "/home":
        text = "home, button at %s/home/button\n" % environ["SCRIPT_NAME"]
    elif path == "/home/button":
        count += 1
        text = "pressed\n"
    else:
        start_response("404 Not Found", [("Content-Type", "text/plain")])
        return [b"nothing here\n"]
    start_response("200 OK", [("Content-Type", "text/plain"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")])
    return [text.encode()]
