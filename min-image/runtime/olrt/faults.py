"""What went wrong in a lambda, told to people."""

import os
import sys
import traceback

_rehearsed = False


def rehearse():
    """Formats tracebacks of the kinds for which Python imports more modules.

    To be called before a lambda's directory is on the module search path,
    where a file could take the place of one of those modules. Done once per
    process, and not again by those that it forks.
    """
    global _rehearsed
    if _rehearsed:
        return
    _rehearsed = True
    import ast, tokenize, unicodedata  # noqa: E401,F401  to mark the place in a source line
    samples = ("undefined_name", "object().undefined", "import sys.undefined", "1 +", "(1).x + 1")
    for sample in samples:
        try:
            exec(sample, {})
        except Exception as err:
            describe(err)


def complain(message):
    """Tells in the lambda's log what can no longer be told to the client."""
    try:
        print(message, file=sys.stderr)
    except Exception:
        pass  # the handler closed or replaced the stream


_OWN = os.path.dirname(__file__)


def describe(err):
    """The traceback as text, from the lambda's first frame on."""
    tb = err.__traceback__
    while tb is not None and _internal(tb.tb_frame.f_code.co_filename):
        tb = tb.tb_next
    return "".join(traceback.format_exception(type(err), err, tb))


def _internal(filename):
    return filename.startswith((_OWN, "<frozen importlib"))
