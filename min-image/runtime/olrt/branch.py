"""A zygote that was forked from another one and imports packages as well.

It sees the packages that it imports below /packages, where every sandbox that
is forked from it has them too, so that what is loaded stays in its place.
"""

import os
import sys
import time

from . import jail, warm, wire

# Libraries that compute start a thread for each core unless told otherwise, and
# a fork would lose them.
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

_root_modules = set()
_root_path = []


def remember():
    """Note what the root zygote has, before anything else is loaded."""
    _root_modules.update(name.partition(".")[0] for name in sys.modules)
    _root_path[:] = sys.path


def grow(control, paths, preload):
    """Import what the worker says and report; preload(modules) lists what cannot be."""
    jail.prctl(jail.PR_SET_PDEATHSIG, jail.SIGKILL)
    sys.path[:] = [*paths, *_root_path]
    message, _ = wire.receive(control)
    if message is None:
        os._exit(0)
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    begun = time.monotonic()
    missing = preload(message["modules"])
    took = time.monotonic() - begun
    warm.prepare_fork()
    wire.send(control, {"op": "zygote", "missing": missing, "loaded": _loaded(), "took": took})


def leave():
    """In a sandbox's first process: be as if nothing had been imported ahead."""
    sys.path[:] = _root_path
    random = sys.modules.get("numpy.random")
    if random is not None:
        random.seed()  # or every sandbox would draw the same numbers


def _loaded():
    """Which package each top-level module is from, "" for the base; without the root's."""
    found = {}
    for name, module in list(sys.modules.items()):
        if "." not in name and name not in _root_modules:
            found[name] = _package_of(module)
    return found


def _package_of(module):
    try:
        places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    except Exception:  # a stand-in for a module may do anything
        return ""
    for place in places:
        if isinstance(place, str) and place.startswith("/packages/"):
            return place.split("/")[2]
    return ""
