import json
import os
import unittest

from olrt import apps, http1, loader, output, warm, wsgi


def request(body=b"", target=b"/run/n", headers=b""):
    req = http1.parse_head(b"POST " + target + b" HTTP/1.1\r\nHost: h:81" + headers)
    req.body = body
    return req


class JSONTest(unittest.TestCase):
    def test_encodes_as_the_standard_library_does(self):
        for value in (None, True, 1, -1.5, float("inf"), "", "\u00e9\U0001f600\x00\"", [], {}, [1, [2, {"a": (3,)}]],
                      {1: 2, None: 3, True: 4, 1.5: 5}, "\ud800"):
            self.assertEqual(apps.encode(value), json.dumps(value))
        for value in (object(), {1, 2}, {(1,): 2}, b"x"):
            with self.assertRaises(TypeError):
                apps.encode([value])

    def test_decodes_as_the_standard_library_does(self):
        for body in (b"1", b" 1 ", b'"\xc3\xa9"', '"a"'.encode("utf-16"), b'{"a":[1,2.5,null]}', b"NaN"):
            self.assertEqual(repr(apps.decode(body)), repr(json.loads(body)))
        for body in (b"", b"{", b"1 2", b"\xff", b"[1,]", b"'a'"):
            with self.assertRaises(ValueError):
                apps.decode(body)


class EventTest(unittest.TestCase):
    def test_results(self):
        def answer(result):
            resp = apps.event(lambda event: result)(request())
            return resp.status, bytes(resp.body)
        self.assertEqual(answer({"a": 1}), (200, b'{"a": 1}'))
        self.assertEqual(answer(b"x"), (200, b"x"))
        self.assertEqual(answer((404, {}, "no")), (404, b"no"))
        self.assertEqual(answer((404, "no")), (200, b'[404, "no"]'))
        self.assertEqual(answer((1000, {}, "no")), (200, b'[1000, {}, "no"]'))
        self.assertEqual(answer((201, {}, {"a": 1})), (201, b'{"a": 1}'))

    def test_bound_methods_and_callables(self):
        class Handler:
            def one(self, event):
                return event

            def two(self, event, context):
                return [event, context.path]

            def __call__(self, event, context):
                return "called"
        handler = Handler()
        for func, want in ((handler.one, b"1"), (handler.two, b'[1, "/run/n"]'), (handler, b'"called"')):
            self.assertEqual(apps.with_context(func)(request(b"1")).body, want)


class WSGITest(unittest.TestCase):
    def test_environ(self):
        env = wsgi.environ(request(b"ab", b"/run/n/x%2Fy?a=b%20c", b"\r\nCookie: a=1\r\nCookie: b=2\r\nX-A: 1\r\nX-A: 2\r\nX_A: 3"))
        want = {"SCRIPT_NAME": "/run/n", "PATH_INFO": "/x/y", "QUERY_STRING": "a=b%20c", "SERVER_NAME": "h",
                "SERVER_PORT": "81", "HTTP_COOKIE": "a=1; b=2", "HTTP_X_A": "1,2", "HTTP_HOST": "h:81"}
        self.assertEqual({key: env[key] for key in want}, want)

    def test_paths(self):
        for target, script, info in ((b"/run/n", "/run/n", "/"), (b"/run/n/", "/run/n", "/"), (b"/other/n", "", "/other/n")):
            env = wsgi.environ(request(target=target))
            self.assertEqual((env["SCRIPT_NAME"], env["PATH_INFO"]), (script, info))

    def test_write_and_close(self):
        closed = []

        class Result:
            def __iter__(self):
                return iter([b"c", b"d"])

            def close(self):
                closed.append(1)

        def application(environ, start_response):
            write = start_response("200 OK", [])
            write(b"a")
            write(b"b")
            return Result()
        resp = wsgi.app(application)(request())
        self.assertEqual(b"".join(resp.body), b"abcd")
        resp.body.close()
        self.assertEqual(closed, [1])

    def test_no_start_response(self):
        with self.assertRaises(RuntimeError):
            wsgi.app(lambda environ, start_response: [b"x"])(request())
        with self.assertRaises(RuntimeError):
            wsgi.app(lambda environ, start_response: [])(request())


class WarmTest(unittest.TestCase):
    def test_dummy_leaves_no_descriptor(self):
        warm.dummy()
        before = os.listdir("/proc/self/fd")
        warm.dummy()
        self.assertEqual(os.listdir("/proc/self/fd"), before)

    def test_prepare_fork_freezes(self):
        import gc
        warm.prepare_fork()
        self.assertGreater(gc.get_freeze_count(), 0)
        gc.unfreeze()


class OutputTest(unittest.TestCase):
    def test_threads_have_their_own_request(self):
        out = output.Output(2)
        out.begin(b"a")
        self.assertEqual(out.current(), b"a")
        import threading
        seen = []
        thread = threading.Thread(target=lambda: seen.append(out.current()))
        thread.start()
        thread.join()
        self.assertEqual(seen, [None])
        out.end(b"a")
        self.assertIsNone(out.current())


    def test_an_interrupt_after_a_write_does_not_repeat_it(self):
        import sys
        reader, writer = os.pipe()
        saved = os.dup(1), os.dup(2), sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        write = os.write
        try:
            out = output.Output(1)
            out.install()
            out.begin(b"r")

            def interrupted(fd, data):
                os.write = write
                write(fd, data)
                raise KeyboardInterrupt()
            os.write = interrupted
            with self.assertRaises(KeyboardInterrupt):
                print("once")
            sys.stdout.buffer.write(b"raw\n")
            out.end(b"r")
        finally:
            os.write = write
            os.dup2(saved[0], 1)
            os.dup2(saved[1], 2)
            sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__ = saved[2:]
            for fd in (*saved[:2], writer):
                os.close(fd)
        with os.fdopen(reader, "rb") as pipe:
            self.assertEqual(pipe.read(), b"\x1eB r\nonce\nraw\n\x1eE r\n")


class LoaderTest(unittest.TestCase):
    def test_missing_file(self):
        before = dict(os.environ)
        try:
            with self.assertRaisesRegex(loader.LoadError, "no file f.py"):
                loader.load("/nonexistent", env={})
            self.assertEqual(dict(os.environ), {})
        finally:
            loader.set_environment(before)


if __name__ == "__main__":
    unittest.main()
