# Each target sets up what it needs in one virtual environment, .venv, which grows: `make demo` installs what users
# install (base and `web`), `make test` adds the tools of development, `make test-all` all that any test needs. With uv
# where it is present, and pip otherwise.
PYTHON ?= python3
VENV := .venv
UV := $(shell command -v uv 2>/dev/null)
PIP := $(if $(UV),$(UV) pip install --quiet --python $(VENV)/bin/python,$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check)
BIN := $(VENV)/bin
BASE := $(VENV)/.base
READY := $(VENV)/.ready
ALL := $(VENV)/.all
NEURAL := $(VENV)/.neural
PEERS := $(VENV)/.peers
TORCH ?= torch==2.13.0
# Hundreds of tests start Python again: without compiled files each start takes half as long again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-all test-fast test-every test-failed lint types docs notebooks site screenshots catalogue gallery presets harnesses wheel-test extras-test bench bench-quick lock sbom audit-deps mutants received-mutants clean

demo: $(BASE)
	$(BIN)/claimlab demo --force

# For people: lint, then types beside the quick tests. About three minutes on two cores.
test: lint
	@$(MAKE) --no-print-directory -j 2 types test-fast

# What CI runs: every test, in one run, with the reason of each one that is skipped.
test-all: lint types test-every

# Whole files to each worker, in the order of tests/durations.json: see docs/contributing/tests.md.
WORKERS ?= 2
SIDE_BY_SIDE := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
TESTS ?=

# Quick tests need neither more than the extra `dev` nor the published datasets: see the markers in pyproject.toml.
test-fast: $(READY)
	$(BIN)/python -m pytest -m "not (slow or needs or realdata)" $(SIDE_BY_SIDE) $(TESTS)

# Every test, or those in TESTS="tests/docs ..."; they include the detectors that need PyTorch. DURATIONS=1 keeps how long each file took.
test-every: $(NEURAL)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -rs --durations=30 $(if $(DURATIONS),--store-durations) $(TESTS)

# Small faults put into the code at random, one at a time: which does no test see? SEED=3 COUNT=50 ROOMS="claims split"; TABLE=FILE keeps the page. Goes on where it was.
SEED ?= 1
COUNT ?= 50
mutants: $(READY)
	nice -n 10 $(BIN)/python bench/mutants.py --seed $(SEED) --count $(COUNT) $(if $(ROOMS),--rooms $(ROOMS)) $(if $(TABLE),--table $(TABLE))

# 5,000 mutated files of every kind that may be received: results or sentences, nothing else. The seed is the day's.
received-mutants: $(READY)
	timeout 180 $(BIN)/python bench/received_mutants.py --keep build/received

# Only the tests that failed last time, one after another: did they fail, or did they fail beside others?
test-failed: $(READY)
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none

# Speed against peers and against our last figures, into bench/RESULTS.md. BENCH="--large" adds ten million texts.
bench: $(PEERS)
	$(BIN)/python bench/everything.py $(BENCH)

# About two minutes: has a ratio fallen by half?
bench-quick: $(ALL)
	$(BIN)/python bench/quick.py

# Installs the source archive and the wheel in new environments: each Python that is here, and without a C compiler.
wheel-test:
	$(PYTHON) bench/install.py wheel

# Each extra alone does its one job, or says in a sentence why it cannot.
extras-test:
	TORCH='$(TORCH)' $(PYTHON) bench/install.py extras

# Inspect and lm-evaluation-harness, in an environment of their own, run a task that we wrote against a local endpoint.
harnesses: $(ALL)
	test -d build/harnesses || $(PYTHON) -m venv build/harnesses
	build/harnesses/bin/python -m pip install --quiet --disable-pip-version-check openai inspect-ai 'lm-eval[api]' .
	CLAIMLAB_HARNESSES=$(CURDIR)/build/harnesses $(BIN)/python -m pytest tests/exchange/test_harnesses.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

docs: $(READY)
	PYTHONPATH=bench $(BIN)/python -m manual.helppages docs/help
	PYTHONPATH=bench $(BIN)/python -m manual.datasets docs/datasets.md
	PYTHONPATH=bench $(BIN)/python -m manual.languages docs/languages.md
	PYTHONPATH=bench $(BIN)/python -m manual.stub

# Run the notebooks of the documentation again, and keep what they show.
notebooks: $(ALL)
	PYTHONPATH=bench $(BIN)/python -m manual.notebooks docs/notebooks

# The documentation site, with search, in build/docs/site: open build/docs/site/index.html. It needs no network.
site: $(ALL)
	PYTHONPATH=bench $(BIN)/python -m manual.sitepages . build/docs
	$(BIN)/zensical build -f build/docs/mkdocs.yml

# Screenshots of the demo for the README and the docs; needs Chromium.
screenshots: $(ALL)
	$(BIN)/python bench/screenshots.py

# The page on what each public dataset can be used for: audits every dataset in ../shared/data, and goes on where it was.
gallery: $(ALL)
	nice -n 10 $(BIN)/python bench/gallery.py

# Every catalogued dataset in ../shared/data: file, rows, labels, and whether these are the numbers that its README gives, or why not.
catalogue: $(READY)
	nice -n 10 $(BIN)/python bench/load_all.py

# The figures on the pages of the presets, from whole runs (about 40 minutes of processor time), and the values that tests hold them by.
presets: $(ALL)
	nice -n 10 $(BIN)/python bench/presets.py

# The pins of constraints.txt with the sha256 of every file of each version: constraints-demo-hashed.txt for what the demo
# needs, constraints-dev-hashed.txt for the extra `dev`, constraints-hashed.txt for `dev-all`.
LOCK := build/lock/bin/uv pip compile --quiet --universal --python-version 3.11.5 --constraint constraints.txt --generate-hashes \
  --no-annotate --no-emit-package claimlab --custom-compile-command 'make lock'
lock:
	test -x build/lock/bin/uv || { $(PYTHON) -m venv build/lock && build/lock/bin/python -m pip install --quiet --disable-pip-version-check uv; }
	$(LOCK) --extra dev-all --output-file constraints-hashed.txt pyproject.toml simulate/pyproject.toml
	$(LOCK) --extra dev --output-file constraints-dev-hashed.txt pyproject.toml simulate/pyproject.toml
	$(LOCK) --extra web --output-file constraints-demo-hashed.txt pyproject.toml simulate/pyproject.toml

# What the base install consists of, as CycloneDX: build/sbom.json. SBOM="--extra web" adds an extra.
sbom: $(READY)
	$(BIN)/python bench/dependencies.py sbom $(SBOM)

# Known vulnerabilities of what CI installs; where no source of advisories can be reached, it says so and does not fail.
# AUDIT="--ignore ID" passes over an advisory that does not concern us.
audit-deps: $(READY)
	@test -x build/audit-deps/bin/pip-audit || { $(PYTHON) -m venv build/audit-deps && \
	  timeout 300 build/audit-deps/bin/python -m pip install --quiet --disable-pip-version-check pip-audit; } || echo "pip-audit could not be installed"
	$(BIN)/python bench/dependencies.py audit $(AUDIT)

$(BASE): pyproject.toml simulate/pyproject.toml constraints-demo-hashed.txt $(wildcard setup.py)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "claimlab needs Python 3.11 or newer: set PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing: install python3-venv (needs root), then run make again"; exit 1; }
	@command -v gcc >/dev/null 2>&1 || command -v cc >/dev/null 2>&1 || echo "No C compiler: near-duplicates will use the slower NumPy code (install gcc, which needs root, for the fast one)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	$(PIP) --require-hashes -r constraints-demo-hashed.txt
	$(PIP) --no-deps -e . -e ./simulate
	@touch $(BASE)

$(READY): $(BASE) constraints-dev-hashed.txt
	$(PIP) --require-hashes -r constraints-dev-hashed.txt
	@touch $(READY)

$(ALL): $(READY) constraints-hashed.txt
	$(PIP) --require-hashes -r constraints-hashed.txt
	@touch $(ALL)

# PyTorch first and by itself, so that a build for the CPU is not replaced by a larger one.
$(NEURAL): $(ALL)
	$(PIP) -c constraints.txt '$(TORCH)'
	$(PIP) -c constraints.txt -e '.[encoder,embeddings,lingua]'
	@touch $(NEURAL)

# One by one: a peer that has no build for this machine is left out, and the bench says that it is not installed.
$(PEERS): $(ALL)
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["bench"], sep="\n")' | \
	  while read peer; do $(PIP) -c constraints.txt "$$peer" || echo "not installed: $$peer"; done
	@touch $(PEERS)

clean:
	rm -rf $(VENV) build dist claimlab-demo src/*.egg-info simulate/src/*.egg-info .mypy_cache .ruff_cache .pytest_cache
