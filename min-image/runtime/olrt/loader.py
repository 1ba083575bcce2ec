"""From a lambda's directory to an app that the server can run.

What is served is, in this order: the object named by handler_name; the one
named by OL_WSGI_ENTRY, then OL_ASGI_ENTRY ("object" or "module:object"); f;
app. The file is OL_ENTRY_FILE, else entry.
"""

import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader

from . import apps, server, wsgi


class LoadError(Exception):
    """The lambda cannot be served; the text says why, with the traceback."""


def load(handler_dir, entry="f.py", handler_name="", env=None, packages=()):
    """Imports the lambda and returns its app.

    env becomes the whole environment of the process. packages are directories
    that are searched for modules after the lambda's own. Raises LoadError
    whatever the lambda's code does, SystemExit included.
    """
    env = env or {}
    server.rehearse()
    set_environment(env)
    sys.path[:0] = [handler_dir, *packages]
    path = os.path.join(handler_dir, env.get("OL_ENTRY_FILE") or entry or "f.py")
    if not os.path.isfile(path):
        raise LoadError("no file %s in the lambda's directory" % os.path.basename(path))
    try:
        return _adapt(_import_file(path), handler_name, env)
    except LoadError:
        raise
    except SystemExit as err:
        raise LoadError("lambda called sys.exit(%s) while being imported\n%s"
                        % (err.code, server.describe(err))) from None
    except BaseException as err:
        raise LoadError(server.describe(err)) from None


def set_environment(env):
    """Makes env the complete environment of this process."""
    os.environ.clear()
    os.environ.update(env)


def _import_file(path):
    """Runs the file as a module named after it.

    When a module of that name is loaded already (a lambda may be called
    json.py) the new one is named apart, so that nobody else gets it.
    """
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules or name in sys.builtin_module_names:
        name = "lambda_" + name
    source = SourceFileLoader(name, path)
    module = type(sys)(name)
    module.__file__ = path
    module.__loader__ = source
    module.__spec__ = ModuleSpec(name, source, origin=path)
    sys.modules[name] = module
    exec(source.get_code(name), module.__dict__)
    return module


def _adapt(module, handler_name, env):
    if handler_name:
        return apps.with_context(_callable(module, handler_name))
    if env.get("OL_WSGI_ENTRY"):
        return wsgi.app(_callable(module, env["OL_WSGI_ENTRY"]))
    if env.get("OL_ASGI_ENTRY"):
        raise LoadError("OL_ASGI_ENTRY is set, but ASGI applications cannot be served")
    if hasattr(module, "f"):
        return apps.event(_callable(module, "f"))
    if hasattr(module, "app"):
        return wsgi.app(_callable(module, "app"))
    raise LoadError("%s defines neither f nor app" % os.path.basename(module.__file__))


def _callable(module, name):
    """The object called name: attributes by dots, another module by a colon."""
    where, sep, attribute = name.rpartition(":")
    if sep and where != module.__name__:
        module = _import_named(where)
    found = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise LoadError("%s is not defined in %s" % (name, module.__name__))
        found = getattr(found, part)
    if not callable(found):
        raise LoadError("%s in %s is not callable" % (name, module.__name__))
    return found


def _import_named(name):
    __import__(name)
    return sys.modules[name]
