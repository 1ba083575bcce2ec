#!/bin/sh
# certificates.sh ADDRESS...: makes an authority (ca.pem, ca.key) unless there is
# one in this directory, and for each address, an IP or a name, ADDRESS.pem and
# ADDRESS.key, good for a boss, a worker and a client alike. Keep ca.key where no
# cluster is.
set -eu
[ $# -gt 0 ] || { echo "use it so: $0 10.0.0.1 10.0.0.2 10.0.0.3" >&2; exit 2; }

new() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "$@" 2>/dev/null; }
umask 077
[ -e ca.key ] || new -x509 -days 3650 -subj /CN=openlambda -keyout ca.key -out ca.pem
for at in "$@"; do
	case $at in
	*[!0-9.]*) name=DNS:$at ;;
	*) name=IP:$at ;;
	esac
	new -subj "/CN=$at" -keyout "$at.key" -out "$at.csr"
	printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$name" >"$at.ext"
	openssl x509 -req -in "$at.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 825 -extfile "$at.ext" -out "$at.pem" 2>/dev/null
	rm -f "$at.csr" "$at.ext"
done
chmod 644 ./*.pem
