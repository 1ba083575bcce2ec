"""Installs one package: pip, wherever the base has it.

installer.main() runs pip with the program's arguments. Where there is no pip
it says so and ends with NO_PIP.
"""

import glob
import importlib.util
import os
import runpy
import sys

NO_PIP = 97

# Where distributions keep pip as a wheel when it is not installed, besides
# ensurepip's own directory.
_WHEELS = ("/usr/share/python-wheels/pip-*.whl", "/usr/share/python-pip-wheels/pip-*.whl")


def main():
    """Become pip."""
    os.umask(0o022)  # every sandbox has to read what is installed
    if "TMPDIR" in os.environ:
        os.makedirs(os.environ["TMPDIR"], exist_ok=True)
    if not find():
        print("the base image has no pip", file=sys.stderr)
        sys.exit(NO_PIP)
    sys.argv[0] = "pip"
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


def find():
    """Make pip importable; False if there is none."""
    if importlib.util.find_spec("pip") is not None:
        return True
    for pattern in (_bundled(), *_WHEELS):
        for wheel in sorted(glob.glob(pattern), reverse=True):
            sys.path.insert(0, wheel)
            return True
    return False


def _bundled():
    spec = importlib.util.find_spec("ensurepip")
    if spec is None or not spec.origin:
        return ""
    return os.path.join(os.path.dirname(spec.origin), "_bundled", "pip-*.whl")
