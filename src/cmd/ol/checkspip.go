package main

import (
	"context"
	"os/exec"
)

// findPip ends with status 0 where an installer would find pip: as a module, or
// as one of the wheels that distributions keep.
const findPip = `import glob, importlib.util, os, sys
bundled = importlib.util.find_spec("ensurepip")
places = ["/usr/share/python-wheels", "/usr/share/python-pip-wheels"]
if bundled and bundled.origin:
    places.append(os.path.join(os.path.dirname(bundled.origin), "_bundled"))
sys.exit(importlib.util.find_spec("pip") is None and not any(glob.glob(p + "/pip-*.whl") for p in places))`

// checkPip looks where installers look on base "host".
func checkPip(ctx context.Context) check {
	if err := exec.CommandContext(ctx, "/usr/bin/python3", "-I", "-c", findPip).Run(); err != nil {
		return check{
			"pip", checkWarn, "/usr/bin/python3 has no pip, so lambdas on base \"host\" cannot have packages installed.",
			"apt-get install python3-pip, or use another base: ol worker init -i debian",
		}
	}
	return check{"pip", checkOK, "Packages that lambdas require can be installed.", ""}
}
