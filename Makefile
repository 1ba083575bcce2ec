# The project's commands. `make` alone lists them.
SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# go.mod names the toolchain; Go 1.21 and later fetch it. Some distributions
# switch that off, so it is asked for here unless the caller decided.
export GOTOOLCHAIN ?= auto
# The version comes from git where git is willing to speak about this clone.
VCS := $(shell git status --porcelain >/dev/null 2>&1 && echo auto || echo false)

GO_FILES := $(shell find . -name '*.go' -not -path './.git/*') go.mod go.sum
EMBEDDED := $(shell find min-image test-registry src -type f -not -name '*.go' 2>/dev/null)

.PHONY: help build native demo test test-root test-vm bench soak repro lint fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ol ol-runc ## build the static binary ./ol, and ./ol-runc where there is a C compiler

ol: $(GO_FILES) $(EMBEDDED)
	@scripts/need-go.sh
	CGO_ENABLED=0 go build -trimpath -buildvcs=$(VCS) -ldflags '-s -w' -o ol ./src/cmd/ol

# Only sandbox=runc needs it. It is the one program with C code in it.
ol-runc: $(GO_FILES) $(EMBEDDED)
	@scripts/need-go.sh
	@if command -v "$$(go env CC | cut -d' ' -f1)" >/dev/null; then \
		set -x; CGO_ENABLED=1 go build -trimpath -buildvcs=$(VCS) -ldflags '-s -w' -o ol-runc ./src/cmd/ol-runc; \
	else \
		echo "ol-runc is not built, so sandbox=runc will not work: there is no C compiler (apt-get install gcc libc6-dev)" >&2; \
	fi

native: ## build the lambda of the test registry that is a program, in bin/native
	@scripts/need-go.sh
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o bin/native/f.bin ./test-registry/native
	@cp test-registry/native/ol.yaml bin/native/
	@echo "install it: ol admin install bin/native"

demo: ## replay a piece of a real trace under ttl and cidre (needs root)
	@scripts/as-root.sh --check "make demo" "it makes namespaces and cgroups for its sandboxes"
	@scripts/need.sh python3
	@$(MAKE) --no-print-directory ol
	@scripts/as-root.sh ./ol demo

test: ## go vet, unit tests with -race, and root tests where root is to be had
	@scripts/need-go.sh
	@scripts/need.sh python3
	@scripts/test.sh

test-root: ## only the tests that need root
	@scripts/as-root.sh --check "make test-root" "the sandboxes under test need namespaces and cgroups"
	@scripts/need-go.sh
	@scripts/need.sh python3
	@scripts/test.sh --root-only

test-vm: ## the root tests under a stock Debian kernel with cgroup v2 only, emulated (Debian; needs root)
	@scripts/as-root.sh --check "make test-vm" "it makes a disk image whose files are root's"
	@scripts/need-go.sh
	@scripts/test-vm.sh

bench: ## check every performance bar; exits non-zero on a miss (needs root)
	@scripts/as-root.sh --check "make bench" "it measures real sandboxes"
	@scripts/need.sh python3
	@$(MAKE) --no-print-directory ol
	@scripts/as-root.sh ./ol bench bars

soak: ## wear a worker out for SOAK=3m and look for losses and leaks (needs root)
	@scripts/as-root.sh --check "make soak" "it wears out real sandboxes"
	@scripts/need.sh python3
	@$(MAKE) --no-print-directory ol
	@scripts/as-root.sh ./ol bench soak --length $(or $(SOAK),3m)

repro: ol ## reproduce the paper's figures, the quick way; ARGS="fig12 --seeds 5" for others
	./ol repro $(or $(ARGS),--quick)

lint: ## formatting, go vet, staticcheck, and golangci-lint where present
	@scripts/need-go.sh
	@scripts/lint.sh

fuzz: ## run every fuzz target for FUZZTIME each (default 30s)
	@scripts/need-go.sh
	@scripts/fuzz.sh

clean: ## remove what was built; results stay
	rm -rf ol ol-runc bin
