# The commands of this repository; `make` alone lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

CARGO ?= cargo
PYTHON ?= python3
CARGO_FLAGS ?=
VENV := .venv
PYTHON_FILES := $(wildcard verifier/*.py docs/site/*.py laboratory/vectors/*.py laboratory/benches/*.py laboratory/fuzz/*.py) laboratory/mutants/run .ci/times.py
TARGET := $(or $(CARGO_TARGET_DIR),target)
# The Python package's extension, in place; a wheel has its own.
EXTENSION := python/src/efface/_engine.abi3.so
# No wheel may have more bytes than this: they are downloaded on every installation.
WHEEL_BYTES := 7500000
FUZZ_SECONDS ?= 60
# As many processes as cores.
PYTEST_FLAGS ?= --numprocesses logical --dist worksteal
ROUNDS ?= 10
STATES ?= 400
# Given, a missing cargo-deny is an error and not a check left out; DENY_FLAGS=--offline uses the advisories of the last time.
DENY_REQUIRED ?=
DENY_FLAGS ?=
BENCH_OUT ?= dist/bench
QUICK ?=

# Cargo whose compiler of this workspace has clippy's lints: libraries are compiled once for lints and tests.
linted = RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/.ci/linted $(CARGO)
# Stable compilers have the times of tests for whoever sets this variable. Only test binaries get it: build
# scripts would notice.
HOST = $(shell rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
timed = CARGO_TARGET_$(HOST)_RUNNER="env RUSTC_BOOTSTRAP=1" $(linted) test $(CARGO_FLAGS) $(1) \
	-- -Z unstable-options --report-time 2>&1 | $(PYTHON) .ci/times.py

.PHONY: help demo test check lint format lint-rust lint-python deny test-rust test-features test-python test-torch docs extension wheel wheel-venv test-wheel
.PHONY: bench count fuzz miri mutants power soak test-laboratory

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: ## train on real data, delete a person, verify the certificate: a report in demo-output/
	$(CARGO) run --release $(CARGO_FLAGS) -p efface-demo -- demo-output

test: format lint-python deny test-rust test-python docs ## lint, then every test, then the documentation site

lint: format lint-rust lint-python deny ## formatting, lints, documentation, types, dependencies: nothing may warn

format:
	$(CARGO) fmt --all --check

# `make test` has these lints and this documentation where it compiles the tests.
lint-rust:
	$(CARGO) clippy $(CARGO_FLAGS) --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(CARGO_FLAGS) --no-deps --lib

lint-python: $(VENV)/ready
	$(VENV)/bin/ruff check $(PYTHON_FILES)
	$(VENV)/bin/ruff format --check $(PYTHON_FILES)
	$(VENV)/bin/mypy $(PYTHON_FILES)
	cd python && ../$(VENV)/bin/ruff check && ../$(VENV)/bin/ruff format --check
	cd python && ../$(VENV)/bin/mypy

deny: ## licences, bans, sources and advisories of what is used, by deny.toml (needs cargo-deny)
	@if $(CARGO) deny --version >/dev/null 2>&1; then \
		$(CARGO) deny $(DENY_FLAGS) check; \
	elif [ -n "$(DENY_REQUIRED)" ]; then \
		echo "deny: cargo-deny is not installed: cargo install --locked cargo-deny" >&2; exit 2; \
	else \
		echo "deny: advisories are SKIPPED: cargo-deny is not installed (a test checks licences, bans and sources)" >&2; \
	fi

# Property tests draw the same values for the same tests: what passes once passes everywhere. `make soak` draws others.
test-rust check: export PROPTEST_RNG_SEED = 1
# Tests of vaults wait for the disk, so that more of them run than there are cores.
test-rust check: export RUST_TEST_THREADS ?= $(shell expr 3 \* $$(getconf _NPROCESSORS_ONLN))
test-rust: ## the Rust tests, documentation examples included; ends with the times of the slowest
	$(call timed,--lib --bins --tests --examples)
	RUSTDOC=$(CURDIR)/.ci/documented $(linted) test $(CARGO_FLAGS) --doc

check: lint ## while you work: lints, and the tests of units, of the engine and of the vault
	$(call timed,--lib --test engine --test vault)

# Not part of `make test`: no user runs any of it.
test-laboratory: ## lint and test the laboratory: attacks, tightness, experiments, benchmarks
	$(CARGO) clippy $(CARGO_FLAGS) -p efface-laboratory -p efface-bench --all-targets -- -D warnings
	$(CARGO) test $(CARGO_FLAGS) -p efface-laboratory -p efface-bench

soak: export EFFACE_SOAK = 1
soak: ## the Rust tests with new random values, and more of them, each time (ROUNDS=n times)
	for round in $$(seq $(ROUNDS)); do $(linted) test $(CARGO_FLAGS) --lib --tests; done

# Not part of `make test`: other features mean other builds of most dependencies, minutes of them.
test-features: ## the crates with their features off, which a build of the workspace never has
	$(CARGO) clippy $(CARGO_FLAGS) -p efface-formats --all-targets -- -D warnings
	$(CARGO) test $(CARGO_FLAGS) -p efface-formats
	$(CARGO) clippy $(CARGO_FLAGS) -p efface --all-targets -- -D warnings
	$(CARGO) clippy $(CARGO_FLAGS) -p efface-cli --no-default-features -- -D warnings

test-python: extension $(VENV)/ready ## the tests of the Python package and of the independent verifier
	$(VENV)/bin/python -m pytest -p no:cacheprovider $(PYTEST_FLAGS) verifier
	cd python && PYTHONPATH=src ../$(VENV)/bin/python -m pytest $(PYTEST_FLAGS) --durations 10

# Not part of `make test`: torch takes some GB.
test-torch: extension dist/torch/ready ## the tests of the Python package that need torch, in an environment of its own
	cd python && PYTHONPATH=src ../dist/torch/bin/python -m pytest tests/test_torch*.py tests/test_extract.py

docs: extension $(VENV)/ready ## the documentation site, in dist/site; EFFACE_DATA names the data of its notebooks
	@test -d "$${EFFACE_DATA:-}" || echo "docs: the notebooks are SKIPPED: EFFACE_DATA must name the folder of public data sets" >&2
	PYTHONPATH=$(CURDIR)/python/src $(VENV)/bin/python -m sphinx --quiet --fail-on-warning --keep-going \
		--fresh-env --write-all --jobs auto --doctree-dir dist/.doctrees docs/site dist/site
	@echo "docs: dist/site/index.html"

extension: ## build the Python package in place, in python/src
	$(linted) build $(CARGO_FLAGS) --lib --features efface-python/extension-module
	cp $(TARGET)/debug/lib_engine.so $(EXTENSION).new
	mv $(EXTENSION).new $(EXTENSION)

wheel: $(VENV)/ready ## build the Python package as a wheel, in dist/
	cd python && ../$(VENV)/bin/maturin build --release --compression-level 9 $(CARGO_FLAGS) --out ../dist
	@wheel="$$(ls -t dist/efface-*.whl | sed -n 1p)"; bytes=$$(wc -c < "$$wheel"); \
	if (( bytes > $(WHEEL_BYTES) )); then \
		echo "wheel: $$wheel has $$bytes bytes, at most $(WHEEL_BYTES) are allowed: find what made it grow (debug symbols, a dependency)" >&2; exit 1; \
	fi

wheel-venv: wheel ## install the wheel into a fresh environment, dist/venv
	rm -rf dist/venv
	$(PYTHON) -m venv dist/venv
	dist/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -r requirements-dev.txt
	dist/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps --find-links dist efface

test-wheel: wheel-venv ## test the wheel in an environment of its own
	cd python && ../dist/venv/bin/python -m pytest -p no:cacheprovider

bench: wheel-venv ## a page of all benchmarks in BENCH_OUT, dist/bench (QUICK=1: the short ones); EFFACE_DATA names the data
	@test -d "$${EFFACE_DATA:-}" || { echo "EFFACE_DATA must name the folder of public data sets" >&2; exit 2; }
	$(CARGO) build --release $(CARGO_FLAGS) -p efface-bench
	dist/venv/bin/python laboratory/benches/page.py --out "$(BENCH_OUT)" $(if $(QUICK),--quick)

count: ## instructions of commands on fixed tables against laboratory/benches/instructions.json (needs valgrind)
	$(CARGO) build --release $(CARGO_FLAGS) -p efface-cli
	$(PYTHON) laboratory/benches/instructions.py $(TARGET)/release/efface

mutants: ## plant faults one by one; the tests must find each of them (Python 3.11 or newer)
	$(PYTHON) laboratory/mutants/run --target $(abspath $(TARGET))/mutants

fuzz: ## a minute of fuzzing per parser (needs cargo-fuzz; FUZZ_SECONDS=n for another time)
	./laboratory/fuzz/run $(FUZZ_SECONDS)

power: ## cut the power at every step of requests, on disks that keep what was synchronised (needs strace)
	$(linted) build $(CARGO_FLAGS) -p efface-cli
	$(PYTHON) laboratory/fuzz/power_loss.py $(TARGET)/debug/efface $(STATES)

miri: ## the kernels' unsafe code under miri, in its AVX2 form (needs a nightly compiler with miri)
	RUSTFLAGS="-C target-feature=+avx2" MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=8 \
		$(CARGO) +nightly miri test $(CARGO_FLAGS) -p efface-matrix --lib

$(VENV)/ready: requirements-dev.txt
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -r requirements-dev.txt
	touch $@

dist/torch/ready: requirements-dev.txt requirements-torch.txt
	test -x dist/torch/bin/python || $(PYTHON) -m venv dist/torch
	dist/torch/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -r requirements-dev.txt -r requirements-torch.txt
	touch $@
