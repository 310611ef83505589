# emr-observatory: `make up` builds the platform on this machine, `make test` tests it.
.DEFAULT_GOAL := help
BUILD := CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w"
# Python with boto3, for the tests of EMR's API.
PYTHON := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/emr-observatory/test-python
export OBSERVATORY_BINARY := $(CURDIR)/bin/observatory

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: check-tools
check-tools: ## Say which needed programs are missing
	@missing=; for t in go java mvn python3 git; do command -v $$t >/dev/null || missing="$$missing $$t"; done; \
	python3 -m pip --version >/dev/null 2>&1 || missing="$$missing python3-pip"; \
	test -z "$$missing" || { echo "missing:$$missing (needed: Go, JDK 17, Maven, Python 3 with pip, git)" >&2; exit 1; }

.PHONY: build
build: check-tools ## Build bin/observatory and bin/machined
	@mkdir -p bin
	@$(BUILD) -o bin/ ./cmd/observatory ./localcloud/machine/machined

.PHONY: tools
tools: build ## Build and fetch what the local cloud runs (cached)
	@bin/observatory tools

.PHONY: artifacts
artifacts: build ## Build and fetch what goes on nodes (cached, sha256-locked)
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
	OBSERVATORY_PULUMI="$$(bin/observatory tools --path pulumi)" OBSERVATORY_PYTHON=$(PYTHON)/bin/python go test -p 2 -timeout 40m ./...

.PHONY: artifacts-lock
artifacts-lock: build ## Build the node's artifacts anew and write their lock file
	@bin/observatory artifacts --relock

.PHONY: generate
generate: tools ## Render the generated files and references anew
	OBSERVATORY_PULUMI="$$(bin/observatory tools --path pulumi)" go test ./stacks/config ./stacks/outputs ./stacks/changes ./stacks/controls ./dashboards -update
