#!/bin/bash
# Replays a real trace against a cluster that runs, from a machine of its own.
# Start its workers with constants that fit the scale, for instance for 2:
#   ol worker up -o policy.ttl_sec=1200,policy.window_sec=1800 --boss ...
# BOSS-URL may be several, separated by commas: when one goes away the next is sent to.
# usage: scripts/replay-cluster.sh BOSS-URL TOKEN-FILE [RESULTS [FLAGS OF ol replay...]]
set -euo pipefail
ol=${OL:-./ol}
if [ $# -lt 2 ]; then
	echo "usage: $0 BOSS-URL TOKEN-FILE [RESULTS [FLAGS OF ol replay...]]" >&2
	exit 2
fi
exec "$ol" replay --boss "$1" --token-file "$2" --trace s1 --scale 2 --out "${3:-results/cluster}" "${@:4}"
