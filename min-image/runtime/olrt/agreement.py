"""Finds packages whose versions exclude each other.

agreement.main() reads claims from the program's argument, a JSON list of
objects: package says that it wants a requirement, and has is the version that
is there. It prints those that do not hold and ends with CONFLICT.
"""

import json
import sys

from . import installer

CONFLICT = 96


def main():
    """Check every claim."""
    if not installer.find():
        sys.exit(installer.NO_PIP)
    from pip._vendor.packaging.requirements import Requirement

    broken = [text for text in map(lambda c: _broken(Requirement, c), json.loads(sys.argv[1])) if text]
    if broken:
        print("; ".join(broken))
        sys.exit(CONFLICT)


def _broken(parse, claim):
    """Say what is wrong with one claim; None if nothing is."""
    try:
        wanted = parse(claim["wants"])
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            return None
        fits = wanted.specifier.contains(claim["has"], prereleases=True)
    except ValueError:
        return None  # not of the standard form: nothing can be said
    if fits:
        return None
    return "%s needs %s%s, but the lambda has %s %s" % (
        claim["package"], wanted.name, wanted.specifier, wanted.name, claim["has"])
