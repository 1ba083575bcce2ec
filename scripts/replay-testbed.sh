#!/bin/bash
# Compares placers on the paper's cluster of three nodes, made on this machine,
# and the simulator with both. Exit code 6: something is outside its tolerance.
# Executions are cut at 5 s: the longest of the trace take longer than workers wait.
# usage: scripts/replay-testbed.sh [RESULTS [FLAGS OF ol repro validate...]]     (as root; OL names the program)
set -euo pipefail
ol=${OL:-./ol}
exec "$ol" repro validate --testbed --nodes 3 --placers all --trace s1 --first-minute 2 \
	--scale 4 --cap 5s --duration 1m --out "${1:-results/testbed}" "${@:2}"
