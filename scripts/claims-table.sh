#!/bin/bash
# Writes the table at the end of docs/reproduction.md anew, and what is committed of the
# results, from directories that ol repro wrote. Changes nothing before it has all of it.
# usage: scripts/claims-table.sh NAME=DIR...     (quick, full, testbed; OL names the program)
set -euo pipefail
ol=${OL:-./ol}
page=docs/reproduction.md expected=docs/expected
if [ $# -lt 1 ]; then
	echo "usage: $0 NAME=DIR..." >&2
	exit 2
fi
shopt -s nullglob
for result in "$@"; do
	texts=("${result#*=}"/*/*.md)
	if ! [[ $result =~ ^[a-z0-9-]+=. ]]; then
		echo "$0: $result is not NAME=DIR" >&2
		exit 2
	elif [ ${#texts[@]} = 0 ] || ! [ -f "${result#*=}/claims.csv" ]; then
		echo "$0: ${result#*=} has no results: make them with $ol repro -o ${result#*=}" >&2
		exit 1
	fi
done
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
sed '/^<!-- claims -->$/q' "$page" >"$new/page.md"
{
	echo
	"$ol" repro claims --why docs/data/why.csv "$@"
} >>"$new/page.md"
for result in "$@"; do
	name=${result%%=*} from=${result#*=}
	mkdir "$new/$name"
	for text in "$from"/*/*.md; do
		sed '/^!\[/d' "$text" >"$new/$name/$(basename "$text")"
	done
	cp "$from/claims.csv" "$new/$name/"
done
for result in "$@"; do
	rm -rf "${expected:?}/${result%%=*}"
	cp -r "$new/${result%%=*}" "$expected/"
done
cp "$new/page.md" "$page"
