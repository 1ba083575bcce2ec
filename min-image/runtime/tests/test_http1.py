import random
import unittest

from olrt import http1
from olrt.http1 import ProtocolError, RequestReader, Response

REQUESTS = (
    b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
    b"\r\n\r\nGET /b?q HTTP/1.1\r\nA: 1\r\nA: 2\r\n\r\n"
    b"PUT /c HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0A;x=\"y\"\r\n0123456789\r\n0\r\nT: t\r\n\r\n"
    b"POST /d HTTP/1.1\r\nContent-Length: 0\r\nConnection: x, Close\r\n\r\n"
)
EXPECTED = [
    (b"POST", b"/a", b"hello", False),
    (b"GET", b"/b?q", b"", False),
    (b"PUT", b"/c", b"abc0123456789", False),
    (b"POST", b"/d", b"", True),
]


def read_all(parts, max_body=1000):
    reader = RequestReader(max_body, lambda: None)
    found = []
    for part in parts:
        reader.feed(part)
        while True:
            req = reader.next()
            if req is None:
                break
            found.append((req.method, req.target, bytes(req.body), req.close))
    return found


def read_early(parts, taken, max_body=1000):
    """As read_all, but every request is given out at its head.

    taken says of which requests the body is taken; the others' is skipped.
    """
    reader = RequestReader(max_body, lambda: None, early=True)
    found, open_body = [], None
    for part in parts:
        reader.feed(part)
        while True:
            if open_body is not None:
                data, done = reader.more()
                open_body += data
                if not done:
                    break
                open_body = None
            req = reader.next()
            if req is None:
                break
            body = bytearray(b"" if req.partial else req.body)
            if req.partial and req.target in taken:
                open_body = body
            found.append((req.method, req.target, body, req.close))
    return [(method, target, bytes(body), close) for method, target, body, close in found]


class EarlyReaderTest(unittest.TestCase):
    def test_any_fragmentation_reads_the_same(self):
        every = {target for _, target, _, _ in EXPECTED}
        for size in range(1, len(REQUESTS) + 1):
            parts = [REQUESTS[i:i + size] for i in range(0, len(REQUESTS), size)]
            self.assertEqual(read_early(parts, every), EXPECTED, "fragments of %d bytes" % size)

    def test_what_nobody_takes_is_skipped(self):
        for size in range(1, len(REQUESTS) + 1):
            parts = [REQUESTS[i:i + size] for i in range(0, len(REQUESTS), size)]
            found = read_early(parts, ())
            self.assertEqual([f[:2] for f in found], [f[:2] for f in EXPECTED], "fragments of %d bytes" % size)

    def test_limit_counts_all_chunks(self):
        head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        with self.assertRaises(ProtocolError) as caught:
            read_early([head] + [b"4\r\nabcd\r\n"] * 6, {b"/"}, max_body=20)
        self.assertEqual(caught.exception.status, 413)


class ReaderTest(unittest.TestCase):
    def test_any_fragmentation_reads_the_same(self):
        for size in range(1, len(REQUESTS) + 1):
            parts = [REQUESTS[i:i + size] for i in range(0, len(REQUESTS), size)]
            self.assertEqual(read_all(parts), EXPECTED, "fragments of %d bytes" % size)

    def test_random_fragmentation(self):
        rng = random.Random(7)
        for _ in range(200):
            cuts = sorted(rng.sample(range(1, len(REQUESTS)), 6))
            parts = [REQUESTS[a:b] for a, b in zip([0] + cuts, cuts + [len(REQUESTS)])]
            self.assertEqual(read_all(parts), EXPECTED, cuts)

    def test_mutated_requests_only_ever_raise_protocol_errors(self):
        rng = random.Random(11)
        for _ in range(5000):
            data = bytearray(REQUESTS)
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(data))
                kind = rng.randrange(3)
                if kind == 0:
                    data[at] = rng.randrange(256)
                elif kind == 1:
                    del data[at:at + rng.randint(1, 5)]
                else:
                    data[at:at] = rng.choice([b"\r\n", b"\n", b":", b" ", b"\0", b"0", b"\xff"])
            try:
                read_all([bytes(data)])
            except ProtocolError as err:
                self.assertIn(err.status, (400, 413, 417, 431, 501, 505))

    def test_duplicate_headers_are_kept_in_order(self):
        req = http1.parse_head(b"GET / HTTP/1.1\r\nA:1\r\nb: 2 \r\na:\t3")
        self.assertEqual(req.headers, [(b"a", b"1"), (b"b", b"2"), (b"a", b"3")])
        self.assertEqual(req.header(b"a"), b"1")
        self.assertIsNone(req.header(b"c"))

    def test_remembered_lines_are_bounded(self):
        for i in range(1000):
            http1.parse_head(b"GET / HTTP/1.1\r\nX-N: %d" % i)
        self.assertLessEqual(len(http1._known), http1._MAX_KNOWN)
        req = http1.parse_head(b"GET / HTTP/1.1\r\nX-N: 1\r\nX-N: 999")
        self.assertEqual(req.headers, [(b"x-n", b"1"), (b"x-n", b"999")])

    def test_targets(self):
        for sent, want in ((b"http://h/p?q", b"/p?q"), (b"HTTPS://h", b"/"), (b"http://h?q=/", b"/?q=/")):
            self.assertEqual(http1.parse_head(b"GET " + sent + b" HTTP/1.1").target, want)
        self.assertEqual(http1.parse_head(b"OPTIONS * HTTP/1.1").target, b"*")

    def test_expectation_is_told_only_when_the_body_is_missing(self):
        told = []
        reader = RequestReader(100, lambda: told.append(1))
        head = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"
        reader.feed(head + b"1")
        self.assertIsNotNone(reader.next())
        self.assertEqual(told, [])
        reader.feed(head)
        self.assertIsNone(reader.next())
        self.assertEqual(told, [1])
        reader.feed(b"1")
        self.assertEqual(bytes(reader.next().body), b"1")

    def test_request_id_must_be_printable(self):
        for value, want in ((b"abc-1", b"abc-1"), (b"a b", None), (b"\xff", None), (b"a" * 201, None)):
            self.assertEqual(http1.parse_head(b"GET / HTTP/1.1\r\nX-Ol-Request-Id: " + value).ident, want)


class HeadTest(unittest.TestCase):
    def test_framing_is_not_the_lambdas(self):
        resp = Response(200, [("Content-Length", "9"), ("transfer-encoding", "chunked"), ("Connection", "x"), ("A", "b")], b"")
        self.assertEqual(http1.head(resp, b"Content-Length: 0\r\n", True),
                         b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def test_splitting_is_refused(self):
        for name, value in (("A", "b\r\nC: d"), ("A\r\n", "b"), ("", "b"), ("A b", "c"), ("A", "\0")):
            with self.assertRaises(ValueError):
                http1.head(Response(200, [(name, value)], b""), b"", False)
        for status, reason in ((99, None), (1000, None), (200, "a\r\nb")):
            with self.assertRaises(ValueError):
                http1.head(Response(status, [], b"", reason), b"", False)

    def test_other_statuses(self):
        self.assertTrue(http1.head(Response(299, [], b""), b"", False).startswith(b"HTTP/1.1 299 \r\n"))
        self.assertTrue(http1.head(Response(200, [], b"", "Fine"), b"", False).startswith(b"HTTP/1.1 200 Fine\r\n"))


if __name__ == "__main__":
    unittest.main()
