#!/bin/bash
# fuzz.sh: runs every fuzz target of the module for FUZZTIME, one at a time
# (go test fuzzes one target of one package per call).
set -euo pipefail
cd "$(dirname "$0")/.."

found=0
while read -r package; do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		found=1
		echo "== $package $target" >&2
		go test -run '^$' -fuzz "^${target}\$" -fuzztime "${FUZZTIME:-30s}" "$package"
	done
done < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...)
((found)) || { echo "fuzz: no fuzz target found" >&2; exit 1; }
