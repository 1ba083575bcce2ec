#!/bin/bash
# as-root.sh COMMAND...: runs the command as root, through sudo if that asks
# for no password.
# as-root.sh --check WHAT WHY: only says whether that would work.
set -euo pipefail

can_sudo() { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }

if [[ $1 == --check ]]; then
	((EUID == 0)) && exit 0
	if can_sudo; then
		echo "$2 needs root ($3): using sudo." >&2
		exit 0
	fi
	echo "$2 needs root: $3, and there is no sudo without a password here. Run: sudo env \"PATH=\$PATH\" $2" >&2
	exit 1
fi

((EUID == 0)) && exec "$@"
exec sudo -n env "PATH=$PATH" "TERM=${TERM:-dumb}" ${NO_COLOR:+NO_COLOR="$NO_COLOR"} "$@"
