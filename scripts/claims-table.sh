#!/bin/bash
# Writes the table at the end of docs/reproduction.md anew, and what is committed of the
# results, from directories that ol repro wrote.
# usage: scripts/claims-table.sh NAME=DIR...     (quick, full, testbed; OL names the program)
set -euo pipefail
ol=${OL:-./ol}
page=docs/reproduction.md
if [ $# -lt 1 ]; then
	echo "usage: $0 NAME=DIR..." >&2
	exit 2
fi
new=$(mktemp)
trap 'rm -f "$new"' EXIT
sed '/^<!-- claims -->$/q' "$page" >"$new"
{
	echo
	"$ol" repro claims --why docs/data/why.csv "$@"
} >>"$new"
cp "$new" "$page"
for result in "$@"; do
	to=docs/expected/${result%%=*} from=${result#*=}
	rm -rf "$to"
	mkdir -p "$to"
	for text in "$from"/*/*.md; do
		sed '/^!\[/d' "$text" >"$to/$(basename "$text")"
	done
	cp "$from/claims.csv" "$to/"
done
