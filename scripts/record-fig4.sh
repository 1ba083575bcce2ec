#!/bin/bash
# Records the burst of the paper's Fig. 4 on real sandboxes, a worker under CIDRE and one
# under LRU, for ol repro fig4. SCALE stretches all times, for a machine that is busy.
# usage: scripts/record-fig4.sh [DIR]     (as root; OL names the program)
set -euo pipefail
ol=${OL:-./ol}
out=${1:-src/repro/recorded}
mkdir -p "$out"
work=$(mktemp -d)
trap '"$ol" worker down -p "$work/w" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

for policy in cidre lru; do
	"$ol" worker up -d -p "$work/w" -o "worker_port=0,mem_pool_mb=2000,policy.preset=$policy" >/dev/null
	"$ol" replay -p "$work/w" --trace fig4 --init sleep --scale "${SCALE:-1}" --force --timeline --record "$work/fig4-$policy.json"
	"$ol" worker down -p "$work/w" >/dev/null
done
cp "$work"/fig4-*.json "$out/" # both or none
