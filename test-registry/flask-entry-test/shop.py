"""A flask application under a name of its own, in a file of its own.

/, /items/<number> and /url, which answers with an address made by url_for.
"""

import flask

shop = flask.Flask(__name__)


@shop.route("/")
def front():
    return "hi\n", 418, {"A": "B"}


@shop.route("/items/<int:number>", methods=["GET", "POST"])
def item(number):
    return {"item": number, "method": flask.request.method, "from": flask.request.remote_addr is not None}


@shop.route("/url")
def url():
    return flask.url_for("item", number=7, _external=True)
