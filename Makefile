# emr-observatory: `make up` builds the platform on this machine, `make test` tests it.
.DEFAULT_GOAL := help
# One set of flags for all that is compiled: what one build has compiled the next
# finds in Go's cache (reasons: platform/compiler.go).
export CGO_ENABLED := 0
export GOFLAGS := $(shell cat platform/compiler.flags)
BUILD := GOGC=400 go build -buildvcs=false -ldflags "-s -w"
# Python with boto3, for the tests of EMR's API.
PYTHON := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/emr-observatory/test-python
# The control node's part, for an architecture.
control = GOOS=linux GOARCH=$(1) $(BUILD) -o bin/observatory-linux-$(1) ./cmd/observatory-control

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: build
build: ## Build bin/observatory and what it starts
	@command -v go >/dev/null || { echo "missing: go; install it from https://go.dev/dl, then \`make doctor\` says what else is missing" >&2; exit 1; }
	@mkdir -p bin
	@$(BUILD) -o bin/ ./cmd/observatory ./localcloud/machine/machined
	@$(call control,$$(go env GOARCH))

.PHONY: control
control: build
	@$(call control,amd64)
	@$(call control,arm64)

.PHONY: doctor
doctor: build ## Say what this machine lacks, and how to get it
	@bin/observatory doctor

.PHONY: preview
preview: control ## Show what stack dev (STACK=…) would consist of, without an account
	@bin/observatory preview --stack $(or $(STACK),dev)

.PHONY: rehearse
rehearse: control ## Take every stack through its whole life, without an account
	@set -e; for file in Pulumi.*.yaml; do stack=$${file#Pulumi.}; bin/observatory rehearse --stack $${stack%.yaml}; done

.PHONY: tools
tools: build ## Build and fetch what the local cloud runs (cached)
	@bin/observatory tools

.PHONY: artifacts
artifacts: control ## Build and fetch what goes on machines (cached, sha256-locked)
	@bin/observatory artifacts

.PHONY: up
up: build ## Build the platform on the local cloud and run one Spark job
	@bin/observatory up

.PHONY: down
down: build ## Stop the local cloud and remove its state
	@bin/observatory down

.PHONY: test
test: tools ## Run every test
	@test -x $(PYTHON)/bin/python || { python3 -m venv $(PYTHON) && $(PYTHON)/bin/pip install -q --disable-pip-version-check boto3==1.40.45; }
	OBSERVATORY_PULUMI="$$(bin/observatory tools --path pulumi)" OBSERVATORY_PYTHON=$(PYTHON)/bin/python go test -p 2 -timeout 60m ./...

.PHONY: bench
bench: tools ## Measure what the platform costs, into bench.json (COLD=1: make up from nothing too)
	go run ./internal/bench $(if $(COLD),-cold)

.PHONY: artifacts-lock
artifacts-lock: build ## Build the node's artifacts anew and write their lock file
	@bin/observatory artifacts --relock

.PHONY: generate
generate: tools ## Render the generated files and references anew
	OBSERVATORY_PULUMI="$$(bin/observatory tools --path pulumi)" go test ./stacks/config ./stacks/outputs ./stacks/changes ./stacks/controls ./dashboards ./tests/lessons -update
