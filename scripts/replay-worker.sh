#!/bin/bash
# Replays a piece of a real trace on one worker, under two policies: the same requests, all
# times by the least factor that this machine can carry under either, the policies' own
# constants as well. Goes on when a replay fails, and ends with the exit code of the last
# that did.
# usage: scripts/replay-worker.sh [RESULTS [FLAGS OF ol replay...]]     (as root; OL names the program;
#        the flags choose the load: --scale and --out are found here)
set -euo pipefail
ol=${OL:-./ol}
results=${1:-results/replay}
load=(--trace s1 --functions 60 --minutes 3 --duration 1m --init sleep "${@:2}")
work=$(mktemp -d)
trap '"$ol" worker down -p "$work/w" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

# under POLICY OPTIONS FLAGS...: replays on a worker of its own.
under() {
	"$ol" worker up -d -p "$work/w" -o "worker_port=0,mem_pool_mb=2000,policy.preset=$1$2" >/dev/null || return
	local code=0
	"$ol" replay -p "$work/w" "${load[@]}" "${@:3}" || code=$?
	"$ol" worker down -p "$work/w" >/dev/null || return
	return "$code"
}

for policy in ttl cidre; do
	under "$policy" "" --scale 0 --dry-run >>"$work/plans"
done
slowest=$(awk '$1 == "scale" { scale = $2 } $1 == "options" { print scale, $2 }' "$work/plans" | sort -g | tail -n 1)
scale=${slowest% *} options=${slowest#* }
echo "all times x$scale, workers with $options"

failed=0
for policy in ttl cidre; do
	echo "== $policy"
	mkdir -p "$results/$policy"
	# What fits was found above: another measurement may come out a little lower.
	under "$policy" ",$options" --scale "$scale" --force --out "$results/$policy" --perfetto "$results/$policy/sandboxes.json" || failed=$?
done
exit "$failed"
