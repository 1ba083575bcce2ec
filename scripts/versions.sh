# Versions of the tools that `make lint` runs, pinned so that a verdict does
# not change by itself. To be sourced.
GOFUMPT=mvdan.cc/gofumpt@v0.12.0
STATICCHECK=honnef.co/go/tools/cmd/staticcheck@v0.8.2
