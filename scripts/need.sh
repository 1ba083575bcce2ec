#!/bin/bash
# need.sh COMMAND...: installs the commands that are missing through the
# machine's own package manager, and says what it installs.
set -euo pipefail

missing=()
for cmd in "$@"; do
	# The sandboxes see /usr only: a python3 in somebody's home is no help.
	PATH=/usr/sbin:/usr/bin:/sbin:/bin command -v "$cmd" >/dev/null || missing+=("$cmd")
done
((${#missing[@]})) || exit 0

run=()
if ((EUID != 0)); then
	if ! sudo -n true 2>/dev/null; then
		echo "need ${missing[*]}: not installed, and installing takes root. Install it with your package manager, then try again." >&2
		exit 1
	fi
	run=(sudo -n)
fi

echo "installing what is missing: ${missing[*]}" >&2
if command -v apt-get >/dev/null; then
	# Package lists may be absent or too old to find anything: ask for them once.
	install=("${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}")
	"${install[@]}" >/dev/null 2>&1 || { "${run[@]}" apt-get update >&2 && "${install[@]}" >&2; }
elif command -v dnf >/dev/null; then
	"${run[@]}" dnf install -y "${missing[@]}" >&2
elif command -v zypper >/dev/null; then
	"${run[@]}" zypper --non-interactive install "${missing[@]}" >&2
elif command -v pacman >/dev/null; then
	"${run[@]}" pacman -S --noconfirm "${missing[@]/python3/python}" >&2
elif command -v apk >/dev/null; then
	"${run[@]}" apk add "${missing[@]}" >&2
else
	echo "need ${missing[*]}: no package manager known here. Install it by hand, then try again." >&2
	exit 1
fi
