#!/bin/bash
# Fails with advice unless a Go that can fetch the toolchain of go.mod is there.
set -euo pipefail

advice() {
	cat >&2 <<END
$1
OpenLambda needs Go 1.21 or newer; from 1.21 on, go itself fetches the version that go.mod asks for.
Get one from https://go.dev/dl/ (unpack it to /usr/local/go and put /usr/local/go/bin first in PATH),
or from your distribution: Ubuntu 24.04 "apt-get install golang-go", Debian 12 "apt-get install -t bookworm-backports golang-go".
END
	exit 1
}

command -v go >/dev/null || advice "need go: there is no go command in PATH."
# An old go cannot read our go.mod, so it is asked from outside of the module.
version=$(cd / && GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)
if [[ ! $version =~ ^go([0-9]+)\.([0-9]+) ]]; then
	# A development build names no number: trust it.
	[[ $version == devel* ]] || advice "need go: the go command in PATH does not tell its version."
	exit 0
fi
if ((BASH_REMATCH[1] == 1 && BASH_REMATCH[2] < 21)); then
	advice "need go: the go command in PATH is $version, which is too old."
fi
