"""Takes GET and POST only, as its ol.yaml says, and answers 418 to a POST."""


def app(environ, start_response):
    teapot = environ["REQUEST_METHOD"] == "POST"
    start_response("418 I'M A TEAPOT" if teapot else "200 OK", [("Content-Type", "text/plain")])
    return [b"short and stout\n" if teapot else b"ready\n"]
