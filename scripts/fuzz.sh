#!/bin/bash
# fuzz.sh [TARGET...]: runs fuzz targets for FUZZTIME each (default 30s), all of
# them or those named, FUZZJOBS at a time (default 2), each on one processor.
# Prints a line for each and one that counts. Exits 0 if no input broke a target,
# 1 if one did (its path and content are shown), 2 if there is no such target.
#
# Inputs that reach new code are kept in Go's build cache, and the next run
# begins with them; those worth keeping for everybody are in testdata/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly time=${FUZZTIME:-30s} jobs=${FUZZJOBS:-2}

# targets prints "package-directory target" for every fuzz target.
targets() {
	grep -rno --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . |
		sed -E 's,^\./(.*)/[^/]*:[0-9]+:func (Fuzz.*)$,\1 \2,' | sort
}

# build compiles a package's targets, counting which code they reach.
build() { go test -c -fuzz=. -o "$work/${1//\//-}.test" "./$1"; }

# fuzz runs one target and leaves its output in a file. It becomes the
# program, so that who ends it ends nothing else.
fuzz() {
	local package=$1 target=$2
	cd "$package"
	exec "$work/${package//\//-}.test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" -test.fuzzminimizetime 5s \
		-test.parallel 1 -test.fuzzcachedir "$corpus/$package" -test.timeout 0 >"$work/$target.log" 2>&1
}

# spurious tells whether a run failed only because its time was over: until Go
# 1.27 the coordinator may take its own deadline for a failure (go.dev/issue/75804).
# Whatever an input does wrong leaves more than that in the output.
spurious() {
	[[ $(grep -c '^ *context deadline exceeded$' "$1") == 1 ]] &&
		! grep -vE '^(fuzz: elapsed: .*|fuzz: minimizing .*|--- FAIL: Fuzz[A-Za-z0-9_]* \([0-9.]+s\)| *context deadline exceeded|FAIL|)$' "$1"
}

# report prints how the run of a target ended. Its status is 1 if an input broke it.
report() {
	local package=$1 target=$2 status=$3 log=$work/$2.log last note= input
	last=$(grep '^fuzz: elapsed' "$log" | tail -1 | sed -E 's/^fuzz: elapsed: ([^,]*), execs: ([0-9]+) .*new interesting: ([0-9]+).*total: ([0-9]+).*/\2 execs, \3 new inputs (\4 in all), \1/')
	if ((status)) && spurious "$log" >&2; then
		status=0 note=" (go.dev/issue/75804)"
	fi
	if ((status == 0)) && [[ $last ]]; then
		printf 'ok   %-22s %-14s %s%s\n' "$package" "$target" "$last" "$note"
		return 0
	fi
	printf 'FAIL %-22s %-14s %s\n' "$package" "$target" "${last:-it ran nothing}"
	cat "$log"
	while read -r input; do
		echo "input $package/$input:"
		head -c 4000 "$package/$input"
		echo
	done < <(sed -n 's/^ *Failing input written to \(.*\)$/\1/p' "$log" | sort -u)
	return 1
}

# stop ends what still runs and waits for it.
stop() {
	local pid
	for pid in "${!running[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait
	rm -rf "$work"
}

# await waits until one run has ended, and reports it.
await() {
	local pid status=0
	wait -n -p pid "${!running[@]}" || status=$?
	# shellcheck disable=SC2086 # a directory and a name, neither with a space
	report ${running[$pid]} "$status" || failed=$((failed + 1))
	unset "running[$pid]"
}

main() {
	local package target
	corpus=$(go env GOCACHE)/fuzz/$(go list -m)
	work=$(mktemp -d "${TMPDIR:-/tmp}/fuzz-XXXXXX")
	declare -gA running=()
	failed=0
	trap stop EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	local all=() wanted=("$@")
	mapfile -t all < <(targets)
	if ((${#wanted[@]})); then
		local pattern
		pattern=" ($(IFS='|' && echo "${wanted[*]}"))\$"
		mapfile -t all < <(printf '%s\n' "${all[@]}" | grep -E "$pattern" || true)
	fi
	((${#all[@]})) || { echo "fuzz: no such fuzz target; there are: $(targets | sed 's/.* //' | tr '\n' ' ')" >&2 && exit 2; }
	for package in $(printf '%s\n' "${all[@]}" | cut -d' ' -f1 | uniq); do
		build "$package"
	done
	while read -r package target; do
		((${#running[@]} < jobs)) || await
		fuzz "$package" "$target" &
		running[$!]="$package $target"
	done < <(printf '%s\n' "${all[@]}")
	while ((${#running[@]})); do await; done
	echo "fuzz: $((${#all[@]} - failed)) targets held for $time each, $failed broke"
	((failed == 0))
}

main "$@"
