# The verbs; `make` alone lists them. They need Python 3.11 (or later) and apt, and build .venv themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FIRST_NOTEBOOK := notebooks/1-first-look.ipynb
# Files of tests go to processes in their order, so that those in a browser come last.
SIDE_BY_SIDE := -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder
FAST_TESTS := tests/contract tests/unit tests/test_layers.py tests/test_front_door.py

.DEFAULT_GOAL := help
.PHONY: help lab test coverage check lint format docs build bench fuzz soak clean system

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

lab: $(VENV)/.lab ## JupyterLab, with the first notebook of the course open
	$(BIN)/jupyter lab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/$(FIRST_NOTEBOOK) \
	  $(if $(filter 0,$(shell id -u)),--allow-root)

test: $(VENV)/.test system lint ## everything: style, types and all tests; about twenty minutes
	$(BIN)/python -m pytest $(SIDE_BY_SIDE)

coverage: $(VENV)/.test system lint ## the same, and which lines and branches the tests reach; fails below the floor
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) --cov

check: $(VENV)/.test lint ## style, types and the fast tests, before a commit; a few minutes
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) $(FAST_TESTS)

lint: $(VENV)/.test ## style and types only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test ## fix the style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python -m tests.node.packages
	npm run --silent --prefix tests/node prettier -- --write

docs: $(VENV)/.test ## the documents as a site, in build/site; fails at a dead link
	$(BIN)/python docs/site/reference.py
	$(BIN)/python -m sphinx -q -W --keep-going -c docs/site -b html . build/site
	@echo "open build/site/index.html"

build: $(VENV)/.test ## wheel and sdist, in dist
	$(BIN)/python -m build

bench: $(VENV)/.test ## this engine beside its peers; rewrites docs/benchmarks.md
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/.test ## the fuzz tests, fifty times longer, then coverage-guided where atheris installs
	SANDBOX_FUZZ=50 $(BIN)/python -m pytest tests/fuzz --timeout 0
	-$(BIN)/python -m pip install -q atheris && $(BIN)/python tests/fuzz/coverage_guided.py -max_total_time=300

soak: $(VENV)/.test ## what is long or large: mixed runs for ten minutes each, a million items, growth measured
	SANDBOX_SOAK_SECONDS=600 $(BIN)/python -m pytest -m 'soak or scaled' --timeout 0

clean: ## remove .venv, caches and builds
	rm -rf $(VENV) build dist .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis

# A browser to drive and a Node to compare TypeScript with; apt provides what is missing.
system:
	@missing=; \
	command -v chromium >/dev/null || command -v google-chrome >/dev/null || missing="$$missing chromium"; \
	command -v npm >/dev/null || missing="$$missing nodejs npm"; \
	if [ -n "$$missing" ]; then \
	  run=; [ "$$(id -u)" = 0 ] || run=sudo; \
	  $$run apt-get update -q && DEBIAN_FRONTEND=noninteractive $$run apt-get install -q -y --no-install-recommends $$missing; \
	fi

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	touch $@

# The version is read when the package is installed.
$(VENV)/.lab: $(VENV)/.made pyproject.toml sandbox_kernel/__init__.py
	$(BIN)/python -m pip install -q -e '.[course]'
	touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml sandbox_kernel/__init__.py
	$(BIN)/python -m pip install -q -e '.[test]'
	touch $(VENV)/.lab $@
