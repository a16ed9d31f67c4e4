# Lanista's commands. Each does all the set-up it needs; a second run installs nothing.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# of the tests; those on the whole stack stay in one of them, which begins with them
PROCESSES ?= 2
# JavaScript and CSS of the page and of the documentation
SCRIPTS := api/web/page/static benchmarks/documentation/iframe-worker.js

.PHONY: help install demo test check format docs docs-check bench screenshots pins audit-deps clean

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: .venv/.installed  ## make .venv and install Lanista with the exact pins

demo: .venv/.installed  ## start the stack and show it at work; Ctrl-C ends it
	$(BIN)/lanista demo $(ARGS)

test: check tools  ## lint, types, layers and all tests
	$(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist loadgroup --no-loadscope-reorder $(ARGS)

check: .venv/.installed-test  ## lint, types and import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/oxlint --quiet $(SCRIPTS)
	$(BIN)/oxfmt --check $(SCRIPTS)
	@! LC_ALL=C.UTF-8 grep -rnE --include='*.js' --include='*.css' '.{141,}' $(SCRIPTS) || { echo "lines over 140 characters"; exit 1; }
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.installed-test  ## put the code into the house's form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/oxlint --quiet --fix $(SCRIPTS)
	$(BIN)/oxfmt $(SCRIPTS)

docs: .venv/.installed-docs  ## build the documentation as a site in build/site, with a search that works offline
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open build/site/index.html"

docs-check: .venv/.installed-test  ## read every code block, command and link of the documentation; run the marked ones
	$(BIN)/python -m benchmarks.documentation.check $(ARGS)

bench: .venv/.installed-test  ## list the measurements in benchmarks/ and how to run each
	@$(BIN)/python -m benchmarks

screenshots: .venv/.installed-test tools  ## draw the pictures of the page in docs/images
	$(BIN)/python -m benchmarks.screenshots $(ARGS)

pins: .venv/.installed-docs  ## write constraints.txt anew from what is installed
	$(PIP) freeze --exclude-editable | sed -E 's/^(torch==[0-9.]+).*/\1/' > constraints.txt

audit-deps: .venv/.installed-test  ## look for known vulnerabilities in the pinned packages; says so when it has no data
	@test -x .venv/audit/bin/pip-audit || { $(PYTHON) -m venv .venv/audit && .venv/audit/bin/python -m pip install --quiet 'pip-audit==2.10.1'; } || true
	$(BIN)/python -m benchmarks.audit_dependencies

clean:  ## remove the virtual environment and caches; data stays
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Lanista needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) install --quiet --constraint constraints.txt --editable '.[stack]'
	@touch $@

.venv/.installed-test: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) install --quiet --constraint constraints.txt --editable '.[test]'
	@touch .venv/.installed $@

.venv/.installed-docs: .venv/.installed-test
	$(PIP) install --quiet --constraint constraints.txt --editable '.[docs]'
	@touch $@

# The browser tests need Chromium, the cluster tests read docker-compose.yml with the real tool and make hosts by iproute2.
.PHONY: tools
tools:
	@missing=""; for tool in chromium docker-compose; do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	command -v ip >/dev/null || missing="$$missing iproute2"; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing for the tests:$$missing ..."; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; \
	  else echo "The tests need more programs. Run: sudo apt-get install$$missing"; exit 1; fi; \
	fi
