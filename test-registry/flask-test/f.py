"""A flask application: answers 418 with the header A: B and the body "hi"."""

from flask import Flask, Response

app = Flask(__name__)


@app.route("/")
def hi():
    return Response("hi\n", status=418, headers={"A": "B"}, mimetype="text/plain")
