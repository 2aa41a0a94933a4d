# The verbs. `make lab` and `make test` need nothing but Python 3.11 (or later) and apt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: lab test check lint format bench fuzz soak clean

lab: $(VENV)/.lab  ## JupyterLab on the notebooks
	$(BIN)/jupyter lab --notebook-dir=notebooks $(if $(filter 0,$(shell id -u)),--allow-root)

test: $(VENV)/.test system lint  ## everything
	$(BIN)/python -m pytest

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python -m tests.node.packages
	npm run --silent --prefix tests/node prettier -- --write

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/.test  ## the fuzz tests with fifty times the examples, then coverage-guided where atheris installs
	SANDBOX_FUZZ=50 $(BIN)/python -m pytest tests/fuzz --timeout 0
	-$(BIN)/python -m pip install -q atheris && $(BIN)/python tests/fuzz/coverage_guided.py -max_total_time=300

soak: $(VENV)/.test  ## mixed runs for ten minutes, growth measured
	SANDBOX_SOAK_SECONDS=600 $(BIN)/python -m pytest tests/faults/test_soak.py --timeout 0

# A browser to drive and a Node to compare TypeScript with; apt provides what is missing.
.PHONY: system
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

$(VENV)/.lab: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install -q -e '.[lab]'
	touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install -q -e '.[test]'
	touch $(VENV)/.lab $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
