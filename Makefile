# Everything a newcomer needs sets itself up: a virtual environment in .venv, nothing outside this folder.

VENV ?= .venv
BIN := $(VENV)/bin
# The newest Python that is new enough.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

.PHONY: help assess test phrases lint format bench fuzz live conformance accuracy ratchet floors clean

help:
	@echo "make assess   assess the example server: prints the report and writes report.html"
	@echo "make test     run all tests"
	@echo "make phrases LANG=de   run the proofs of the phrases of one language; without LANG, of all"
	@echo "make lint     linters, type checkers, import rules"
	@echo "make format   let the formatter have its way"
	@echo "make live     assess real servers from PyPI and npm (installs them under .live)"
	@echo "make conformance  the official suite, direct and through the proxy (installs it under .conformance)"
	@echo "make bench    benchmarks, each beside its peer in one run"
	@echo "make accuracy DATA=folder   score the answer check on labelled JSONL, written to docs/accuracy.md"
	@echo "make ratchet DATA=folder    fail where an accuracy figure is below its floor in accuracy-floors.json"
	@echo "make floors DATA=folder     move the floors to the figures that are better now"
	@echo "make fuzz     coverage-guided fuzzing of the checks, one minute (Linux: installs atheris)"
	@echo "make clean    remove what these made"

assess: $(VENV)/.assess
	$(BIN)/toolvet assess --timeout 2 --fail-on never --report html=report.html -- $(BIN)/python examples/bookshop_server.py

test: $(VENV)/.dev
	$(BIN)/pytest -n auto

# LANG is set in every shell, to the language of the person: only one that is given to make itself counts. The proofs
# then run without it, because `de` is not the name of a locale.
phrases: $(VENV)/.dev
	LANG=C.UTF-8 TOOLVET_LANGUAGE=$(if $(findstring command,$(origin LANG)),$(LANG)) $(BIN)/pytest -q -p no:xdist tests/languages/test_proofs.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/basedpyright

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

live: $(VENV)/.dev
	$(BIN)/pytest -m live tests/live

conformance: $(VENV)/.dev
	$(BIN)/python conformance/compare.py

fuzz: $(VENV)/.dev
	$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check 'atheris>=3,<4'
	$(BIN)/python fuzz/checks.py -max_total_time=60

accuracy: $(VENV)/.dev
	@test -d "$(DATA)" || { echo "make accuracy needs DATA=folder, a folder of labelled JSONL" >&2; exit 2; }
	$(BIN)/python benchmarks/accuracy.py "$(DATA)" > docs/accuracy.md.new && mv docs/accuracy.md.new docs/accuracy.md

ratchet: $(VENV)/.dev
	@$(BIN)/python -m benchmarks.ratchet $(if $(DATA),"$(DATA)")

floors: $(VENV)/.dev
	@$(BIN)/python -m benchmarks.ratchet --update $(if $(DATA),"$(DATA)")

bench: $(VENV)/.dev
	@for script in $(filter-out benchmarks/accuracy.py benchmarks/ratchet.py benchmarks/semantics.py,$(wildcard benchmarks/*.py)); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) .live .conformance build dist report.html report.json

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "toolvet needs Python 3.11 or newer with its venv module (Debian: apt install python3-venv); none was found" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.assess: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[examples]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.assess
