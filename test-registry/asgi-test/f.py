"""An ASGI application without a framework: answers with what it was asked.

POST /echo streams the body back, piece by piece, in capitals.
"""

import json

started = []


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
    elif scope["path"] == "/echo":
        await echo(receive, send)
    else:
        told = {key: scope[key] for key in ("method", "path", "root_path")}
        await start(send, 200, "application/json")
        await send({"type": "http.response.body", "body": json.dumps({**told, "started": started}).encode()})


async def lifespan(receive, send):
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            started.append("yes")
        await send({"type": message["type"] + ".complete"})


async def start(send, status, kind):
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind.encode())]})


async def echo(receive, send):
    await start(send, 200, "text/plain")
    more = True
    while more:
        message = await receive()
        more = message.get("more_body", False)
        await send({"type": "http.response.body", "body": message.get("body", b"").upper(), "more_body": more})
