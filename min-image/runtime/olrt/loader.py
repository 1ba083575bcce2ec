"""From a lambda's directory to an app that the server can run.

What is served is, in this order: the object named by handler_name; the one
named by OL_WSGI_ENTRY, then OL_ASGI_ENTRY ("object" or "module:object"); f;
app, an ASGI application if calling it makes a coroutine, else a WSGI one. The
file is OL_ENTRY_FILE, else entry; a name with a module needs no file.
"""

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader

from . import apps, faults, wsgi


class LoadError(Exception):
    """The lambda cannot be served; the text says why, with the traceback."""


def load(handler_dir, entry="f.py", handler_name="", env=None, packages=(), slots=1, about=apps.NOTHING):
    """Imports the lambda and returns its app.

    env becomes the whole environment of the process. packages are directories
    that are searched for modules after the lambda's own. slots is how many
    requests will be served at once; about is what a context tells (see
    apps.Context). Raises LoadError whatever the lambda's code does, SystemExit
    included.
    """
    env = env or {}
    faults.rehearse()
    set_environment(env)
    path = os.path.join(handler_dir, env.get("OL_ENTRY_FILE") or entry or "f.py")
    before = list(sys.path)
    sys.path[:0] = [*_search(handler_dir, path), *packages]
    try:
        kind, func = _find(path, handler_name, env)
        return _adapt(kind, func, slots, about, before)
    except LoadError:
        raise
    except SystemExit as err:
        raise LoadError("lambda called sys.exit(%s) while being imported\n%s"
                        % (err.code, faults.describe(err))) from None
    except BaseException as err:
        raise LoadError(faults.describe(err)) from None


def set_environment(env):
    """Makes env the complete environment of this process."""
    os.environ.clear()
    os.environ.update(env)


def _search(handler_dir, path):
    """The lambda's own directories: the entry file's, then the top."""
    own = os.path.dirname(path)
    return [handler_dir] if own == handler_dir else [own, handler_dir]


def _find(path, handler_name, env):
    """(kind, object) of what is to be served."""
    for kind, name in (("handler", handler_name), ("wsgi", env.get("OL_WSGI_ENTRY")), ("asgi", env.get("OL_ASGI_ENTRY"))):
        if name:
            return kind, _named(path, name)
    module = _import_file(path)
    if hasattr(module, "f"):
        return "event", _attribute(module, "f")
    if hasattr(module, "app"):
        func = _attribute(module, "app")
        return ("asgi" if apps.is_async(func) else "wsgi"), func
    raise LoadError("%s defines neither f nor app" % os.path.basename(path))


def _named(path, name):
    """The object called name: attributes by dots, a module before a colon."""
    where, colon, attribute = name.rpartition(":")
    if not colon or where == _stem(path):
        return _attribute(_import_file(path), attribute)
    __import__(where)
    return _attribute(sys.modules[where], attribute)


def _attribute(module, name):
    found = module
    for part in name.split("."):
        part = _identifier(part)
        if not hasattr(found, part):
            raise LoadError("%s is not defined in %s" % (name, module.__name__))
        found = getattr(found, part)
    if not callable(found):
        raise LoadError("%s in %s is not callable" % (name, module.__name__))
    return found


def _identifier(name):
    """The name as the compiler writes it."""
    if name.isascii():
        return name
    from unicodedata import normalize
    return normalize("NFKC", name)


def _stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def _import_file(path):
    """Runs the file as a module named after it.

    Another module may have the file's name: one that is loaded already (a
    lambda may be called json.py), or a package that the file itself imports.
    Then the new one is named apart, and the name leads to the other.
    """
    if not os.path.isfile(path):
        raise LoadError("no file %s in the lambda's directory" % os.path.basename(path))
    name = _stem(path)
    if name != "f" and _taken(name, os.path.dirname(path)):
        name = "lambda_" + name
    source = SourceFileLoader(name, path)
    module = type(sys)(name)
    module.__file__ = path
    module.__loader__ = source
    module.__spec__ = ModuleSpec(name, source, origin=path)
    sys.modules[name] = module
    exec(source.get_code(name), module.__dict__)
    return module


def _taken(name, own):
    """Whether another module has the name; then imports of it lead there."""
    if name in sys.modules or name in sys.builtin_module_names:
        return True
    spec = PathFinder.find_spec(name, [where for where in sys.path if where != own])
    if spec is None or spec.loader is None:  # a mere directory is no package
        return False
    sys.meta_path.insert(0, _Elsewhere(name, own))
    return True


class _Elsewhere:
    """Finds one module, but not in the directory of the file of the same name."""

    def __init__(self, name, own):
        self._name = name
        self._own = own

    def find_spec(self, name, path=None, target=None):
        """Part of the import protocol."""
        if name != self._name or path is not None:
            return None
        return PathFinder.find_spec(name, [where for where in sys.path if where != self._own])


def _adapt(kind, func, slots, about, path):
    if kind == "wsgi":
        return wsgi.app(func, slots)
    if kind == "asgi" or apps.is_async(func):
        return _asynchronous(kind, func, slots, about, path)
    return apps.event(func) if kind == "event" else apps.with_context(func, about)


def _asynchronous(kind, func, slots, about, path):
    """The app for what needs an event loop, which only such lambdas pay for.

    path is the module search path without the lambda's directories, where a
    file could take the place of a module that asyncio needs.
    """
    lambdas, sys.path[:] = list(sys.path), path
    try:
        from . import aio, asgi
    finally:
        sys.path[:] = lambdas
    runner = aio.Runner(slots)
    if kind != "asgi":
        return aio.event(apps.one(func) if kind == "event" else apps.caller(func, about), runner)
    try:
        return asgi.app(func, runner)
    except asgi.StartError as err:
        raise LoadError(str(err)) from None
