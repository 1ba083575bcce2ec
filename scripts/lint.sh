#!/bin/bash
# lint.sh: every finding of every linter is printed, then the verdict.
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/versions.sh

status=0
unformatted=$(go run "$GOFUMPT" -l .) || status=1
if [[ -n $unformatted ]]; then
	printf 'not formatted, run go run %s -w .:\n%s\n' "$GOFUMPT" "$unformatted" >&2
	status=1
fi
go vet ./... || status=1
go run "$STATICCHECK" ./... || status=1
if command -v golangci-lint >/dev/null; then
	golangci-lint run ./... || status=1
else
	echo "lint: golangci-lint is not installed, its checks were not run" >&2
fi
exit $status
