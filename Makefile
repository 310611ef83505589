# emr-observatory: `make up` builds the platform on this machine, `make test` tests it.
.DEFAULT_GOAL := help
# One set of flags for everything, so that all builds share Go's cache (decision 7).
export CGO_ENABLED := 0
export GOFLAGS := $(shell cat platform/compiler.flags)
BUILD := GOGC=400 go build -buildvcs=false -ldflags "-s -w"
# A Python environment for the tests of EMR's API and of the tables' SQL; DuckDB needs
# pytz for timestamps, sqlglot has Athena's grammar, and moto a Glue.
PYTHON_PACKAGES := boto3==1.40.45 duckdb==2.0.0 pytz==2025.2 mcp==2.3.0 uv==0.13.9 databricks-sdk==0.162.0 sqlglot==30.30.0 moto[glue]==5.1.22
PYTHON := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/emr-observatory/test-python-$(shell echo $(PYTHON_PACKAGES) | sha256sum | cut -c1-8)
# Airflow of both major versions, for the tests of its plugin. Airflow leaves the versions of
# most of its dependencies open: they are those of a date. pip resolves them in minutes, uv in
# seconds.
AIRFLOW_DATE := 2026-11-28
AIRFLOW_PROVIDERS := apache-airflow-providers-amazon==9.39.0 apache-airflow-providers-apache-spark==6.3.4
AIRFLOW2_PACKAGES := apache-airflow==2.11.2 $(AIRFLOW_PROVIDERS)
AIRFLOW3_PACKAGES := apache-airflow==3.3.2 $(AIRFLOW_PROVIDERS) mypy==2.4.1
airflow = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/emr-observatory/airflow-$(shell echo $(AIRFLOW_DATE) $(1) | sha256sum | cut -c1-8)
AIRFLOW2 := $(call airflow,$(AIRFLOW2_PACKAGES))
AIRFLOW3 := $(call airflow,$(AIRFLOW3_PACKAGES))
airflow_environment = test -f $(1)/complete || { rm -rf $(1) && python3 -m venv $(1) && \
	$(PYTHON)/bin/uv pip install -q --exclude-newer $(AIRFLOW_DATE) --python $(1)/bin/python $(2) && touch $(1)/complete; }
# Whether the packages that are tested need it.
WITH_AIRFLOW := $(if $(PACKAGES),$(or $(findstring tests/airflow,$(PACKAGES)),$(findstring tests/cloud,$(PACKAGES)),$(findstring ...,$(PACKAGES))),all)
# The linters, built from their own module (toolchain/lint) into the cache. Without
# the project's flags, which turn inlining off: they run often.
LINT = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/emr-observatory/lint-$(shell cat toolchain/lint/go.* toolchain/lint/*/*.go | sha256sum | cut -c1-16)
# The control node's binaries for an architecture.
control = GOOS=linux GOARCH=$(1) $(BUILD) -o bin/observatory-linux-$(1) ./cmd/observatory-control && \
	GOOS=linux GOARCH=$(1) $(BUILD) -o bin/observatory-profiler-linux-$(1) ./cmd/observatory-profiler

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

.PHONY: build
build: ## Build bin/observatory and the binaries that it starts
	@command -v go >/dev/null || { echo "missing: go; install it from https://go.dev/dl, then run \`make doctor\` for what else is missing" >&2; exit 1; }
	@mkdir -p bin
	@$(BUILD) -ldflags "-s -w -X main.version=$$(git describe --always --dirty 2>/dev/null || echo unknown)" \
		-o bin/ ./cmd/observatory ./localcloud/machine/machined
	@$(call control,$$(go env GOARCH))

.PHONY: control
control: build
	@$(call control,amd64)
	@$(call control,arm64)

.PHONY: doctor
doctor: build ## Report what this machine lacks, and how to install it
	@bin/observatory doctor

.PHONY: preview
preview: control ## List the resources of stack dev (STACK=…); needs no account
	@bin/observatory preview --stack $(or $(STACK),dev)

.PHONY: rehearse
rehearse: control ## Create, update and destroy every stack on simulated providers; needs no account
	@set -e; for file in Pulumi.*.yaml; do stack=$${file#Pulumi.}; bin/observatory rehearse --stack $${stack%.yaml}; done

.PHONY: tools
tools: build ## Build and fetch the servers of the local cloud (cached)
	@bin/observatory tools

.PHONY: facts
facts: ## Refresh what the program knows of instance types and their prices, from package registries
	@go run ./schema/facts/refresh
	@GOFLAGS=-trimpath go -C schema/facts/refresh/prices run .

.PHONY: artifacts
artifacts: control ## Build and fetch what nodes on AWS install (cached, locked by sha256)
	@bin/observatory artifacts

.PHONY: up
up: build ## Deploy the platform on the local cloud and run one Spark job
	@bin/observatory up

.PHONY: down
down: build ## Stop the local cloud and remove its state
	@bin/observatory down

.PHONY: screenshots
screenshots: ## Draw the README's pictures from a running local cloud (needs chromium)
	@docs/images/draw.sh

.PHONY: lint-tools
lint-tools:
	@test -d $(LINT) || { cd toolchain/lint && GOFLAGS=-trimpath GOGC=400 go build -buildvcs=false -ldflags "-s -w" -o $(LINT).part/ tool ./unusedexports && mv -T $(LINT).part $(LINT); }

# What compares a committed page with what it is rendered from, in seconds. A stale page
# fails here and not after every other test.
RENDERED = ./stacks/config ./stacks/outputs ./eventlog ./profiler/lake ./profiler/run ./rules ./dashboards ./dashboards/contract \
	./tests/history ./tests/deployer ./tests/controls ./tests/coverage ./tests/threats ./tests/times ./tests/licences ./tests/cloud ./tests/calibration

.PHONY: check
check: lint-tools ## Check format, vet, import rules, rendered pages, unused exports and lint (about a minute once built)
	@unformatted=$$(gofmt -l $$(find . -name '*.go' -not -path '*/_*' -not -path './.*')); test -z "$$unformatted" || { echo "run gofmt -w on:" $$unformatted >&2; exit 1; }
	go test ./tests/architecture ./tests/lessons
	go test -run 'Reference|Current|Generated' $(RENDERED)
	$(LINT)/unusedexports toolchain/lint/exceptions.txt
	$(LINT)/golangci-lint run --max-issues-per-linter 0 --max-same-issues 0

# What runs the tests, built from its own module (toolchain/gotestsum) into the cache.
GOTESTSUM = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/emr-observatory/gotestsum-$(shell cat toolchain/gotestsum/go.* | sha256sum | cut -c1-16)
MODULE = $(shell go list -m)
RECORD = go run ./tests/times/record -events bin/tests.json -module $(MODULE)
RECORDED = tests/times/times.json
COMMIT = $(shell git rev-parse --short HEAD 2>/dev/null)

# The longest tests come first, so that none of them runs alone at the end
# (docs/reference/tests.md has their times); tests/kubernetes builds the real kube-apiserver
# on first use. Three packages run at once because clouds mostly wait. A test that fails runs
# once more, alone, at the end; one that passes then is named in the last lines.
LONGEST = ./tests/cloud ./tests/kubernetes ./assets/node ./tests/phases ./localcloud/emr ./stacks/changes ./assets/workloads \
	./tests/history ./profiler/run ./stacks ./tests/schema ./cmd/observatory
.PHONY: test
test: tools $(PYTHON)/bin/python ## Run every test, or those of PACKAGES=… and RUN=…
	@$(if $(WITH_AIRFLOW),$(call airflow_environment,$(AIRFLOW2),$(AIRFLOW2_PACKAGES)) && $(call airflow_environment,$(AIRFLOW3),$(AIRFLOW3_PACKAGES)),true)
	@test -d $(GOTESTSUM) || { cd toolchain/gotestsum && GOFLAGS=-trimpath go build -buildvcs=false -ldflags "-s -w" -o $(GOTESTSUM).part/ tool && mv -T $(GOTESTSUM).part $(GOTESTSUM); }
	OBSERVATORY_PULUMI="$$(bin/observatory tools --path pulumi)" OBSERVATORY_PYTHON=$(PYTHON)/bin/python \
		OBSERVATORY_AIRFLOW2=$(AIRFLOW2)/bin/python OBSERVATORY_AIRFLOW3=$(AIRFLOW3)/bin/python \
		$(GOTESTSUM)/gotestsum --format pkgname-and-test-fails --hide-summary skipped,output --jsonfile bin/tests.json \
		--rerun-fails=1 --rerun-fails-run-root-test --packages "$(or $(PACKAGES),$(LONGEST) ./...)" \
		-- -p 3 -timeout $(or $(TIMEOUT),80m) $(if $(RUN),-run '$(RUN)')
	@$(RECORD)

$(PYTHON)/bin/python:
	@{ python3 -m venv $(PYTHON) && $(PYTHON)/bin/pip install -q --disable-pip-version-check $(PYTHON_PACKAGES); } || { rm -rf $(PYTHON); exit 1; }

.PHONY: test-times
test-times: ## Record the times of the last `make test`, which was whole, in docs/reference/tests.md
	@$(RECORD) -into $(RECORDED) -commit $(COMMIT)
	go test ./tests/times -update

# Each part takes at most an hour. tests/phases compares how long jobs take, and has the machine
# for itself. tests/mutants rebuilds the program for each of its
# faults, takes hours, and is run by itself.
PARTS = './tests/cloud' './tests/phases' './tests/fuzz' './assets/...' './stacks/... ./tests/schema ./tests/kubernetes ./localcloud/hadoop' \
	'./profiler/... ./localcloud/emr' './artifacts ./cmd/... ./internal/...'
.PHONY: test-long
test-long: ## Run the hour-long forms, part by part, or those of PACKAGES=…; records the commit of each green part
	@set -e; for part in $(if $(PACKAGES),'$(PACKAGES)',$(PARTS)); do \
		OBSERVATORY_LONG=1 $(MAKE) test TIMEOUT=120m PACKAGES="$$part"; \
		$(RECORD) -into $(RECORDED) -commit $(COMMIT) -part "$$part"; \
	done
	go test ./tests/times -update

.PHONY: bench
bench: tools control $(PYTHON)/bin/python ## Measure what the platform costs, into bench.json (COLD=1: also make up with empty caches; RUN=…: some parts)
	OBSERVATORY_PYTHON=$(PYTHON)/bin/python go run ./internal/bench $(if $(COLD),-cold) $(if $(RUN),-run '$(RUN)')

.PHONY: artifacts-lock
artifacts-lock: build ## Rebuild the node artifacts, in both builds, and write their lock file
	@bin/observatory artifacts --relock

.PHONY: generate
generate: tools ## Regenerate Pulumi.yaml and docs/reference
	OBSERVATORY_PULUMI="$$(bin/observatory tools --path pulumi)" go test ./stacks/config ./stacks/outputs ./stacks/changes ./tests/controls ./tests/deployer ./tests/licences ./dashboards ./tests/lessons ./tests/threats ./tests/times -update
	go test ./rules ./schema/presets ./dashboards/contract ./tests/history ./tests/coverage ./tests/calibration ./profiler/run ./profiler/lake ./profiler/ddl ./profiler/tools -run TestReference -update
	go test ./profiler/tables -update
