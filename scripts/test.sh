#!/bin/bash
# test.sh [--root-only]: go vet, then the tests. Root tests run when this is
# root or sudo asks for no password; otherwise the last lines say what was left out.
set -euo pipefail
cd "$(dirname "$0")/.."

# Packages with tests that need root. They skip themselves without it.
root_packages=(./sock/... ./min-image/... ./src/cmd/ol/...)

flags=(-timeout 40m)
if [[ $(go env CGO_ENABLED) == 1 ]] && command -v "$(go env CC | cut -d' ' -f1)" >/dev/null; then
	flags+=(-race)
else
	echo "make test: no C compiler here, so the race detector is off. To have it: apt-get install gcc libc6-dev" >&2
fi

# Exits with the result of the tests, having printed go test's lines and a sum.
run() {
	local status=0
	go test -json "${flags[@]}" "$@" | bin/testsum || status=$?
	return $status
}

can_root() { ((EUID == 0)) || sudo -n true 2>/dev/null; }

mkdir -p bin
go build -buildvcs=false -o bin/testsum ./scripts/testsum

status=0
if [[ ${1:-} != --root-only ]]; then
	go vet ./...
	run ./... || status=$?
fi

if ((EUID == 0)); then
	# Everything ran as root already, unless only the root tests are wanted.
	[[ ${1:-} != --root-only ]] || run "${root_packages[@]}" || status=$?
elif can_root; then
	echo "root tests, through sudo:" >&2
	run -exec "$PWD/scripts/as-root.sh" "${root_packages[@]}" || status=$?
else
	cat >&2 <<END
NOT RUN: the tests of real sandboxes (${root_packages[*]}) need root, and there is no sudo without a password here.
To run them: sudo env "PATH=\$PATH" make test-root
END
	[[ ${1:-} != --root-only ]] || status=1
fi
exit $status
