"""Time that one small request costs the runtime, without the worker:

    cd min-image/runtime && python3 -m tests.bench_warm

The least of many short rounds in processor time, which other load disturbs
little. Compare two versions by turns on one machine.
"""

import socket
import time

from olrt import apps, output, server, wsgi

ROUNDS, REQUESTS = 400, 50
HEAD = (b"POST /run/warm HTTP/1.1\r\nHost: warm\r\nUser-Agent: warm\r\nContent-Length: 14\r\n"
        b"X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Host: a\r\nX-Forwarded-Proto: http\r\n"
        b"X-Ol-Request-Id: %06d\r\n\r\n" b'{"warm": true}')


def hello(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"hello"]


async def coroutine(event):
    return event


def measure(app):
    """The least and the median microseconds of a request to the app."""
    serving = server.Server(app, server.Options(), output.Output(1))
    serving.interrupter.install()
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    conn = serving.adopt(far)
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for number in range(REQUESTS):
            near.sendall(HEAD % number)
            serving.serve_ready(conn)
            near.recv(4096)
        times.append((time.process_time() - begin) / REQUESTS * 1e6)
    near.close()
    times.sort()
    return times[0], times[ROUNDS // 2]


def main():
    plain = {
        "f(event)": apps.event(lambda event: event),
        "handler(event, context)": apps.with_context(lambda event, context: event),
        "WSGI": wsgi.app(hello),
    }
    for name, app in plain.items():
        print("%-24s least %6.1f us, median %6.1f us" % (name, *measure(app)))
    from olrt import aio
    app = aio.event(apps.one(coroutine), aio.Runner(1))
    print("%-24s least %6.1f us, median %6.1f us" % ("async def f(event)", *measure(app)))


if __name__ == "__main__":
    main()
