#!/bin/bash
# Replays a piece of a real trace on one worker, under two policies.
# usage: scripts/replay-worker.sh [RESULTS]     (as root; OL names the program)
set -euo pipefail
ol=${OL:-./ol}
results=${1:-results/replay}
work=$(mktemp -d)
trap '"$ol" worker down -p "$work/w" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

for policy in ttl cidre; do
	"$ol" worker up -d -p "$work/w" -o "worker_port=0,mem_pool_mb=2000,policy.preset=$policy" >/dev/null
	echo "== $policy"
	"$ol" replay -p "$work/w" --trace s1 --functions 60 --minutes 3 --duration 1m --scale 0 \
	    --init sleep --out "$results/$policy" --perfetto "$work/$policy.json"
	mv "$work/$policy.json" "$results/$policy/sandboxes.json"
	"$ol" worker down -p "$work/w" >/dev/null
done
