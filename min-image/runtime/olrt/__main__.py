"""python3 -m olrt CONFIG: serves one lambda in this process.

CONFIG is a JSON object: socket (path to listen on) and the parameters of
boot.run, of which handler_dir is required.
"""

import json
import sys

from . import boot


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python3 -m olrt CONFIG")
    config = json.loads(sys.argv[1])
    boot.run(boot.listen(config.pop("socket")), **config)


main()
