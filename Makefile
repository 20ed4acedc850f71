# Every target does its own set-up: a virtual environment in .venv with pinned versions, made once
# and again when pyproject.toml or the constraints change. Needs make and Python 3.11 or newer;
# PYTHON=/path/to/python chooses one.

SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The interpreter: the one asked for, else the one .venv was made with, else the first on the path
# that is new enough and can make a virtual environment. A name on the path may be an empty promise
# (a version manager's shim), so each is tried. A .venv without pip was interrupted: not a candidate.
USABLE := import sys, ensurepip, venv; assert sys.version_info >= (3, 11)
MADE := $(if $(wildcard .venv/lib/python3.*/site-packages/pip/__main__.py),.venv/bin/python)
CANDIDATES := $(or $(PYTHON),$(MADE) python3 python3.13 python3.12 python3.11)
CHOSEN := $(shell for python in $(CANDIDATES); do \
	if "$$python" -c '$(USABLE)' >/dev/null 2>&1; then echo "$$python"; break; fi; done)
VERSION := $(if $(CHOSEN),$(shell "$(CHOSEN)" -c 'import sys; print("%d.%d" % sys.version_info[:2])'))

# A Python newer than the newest list gets the newest list.
CONSTRAINTS := $(or $(wildcard .ci/constraints-$(VERSION).txt),.ci/constraints-3.13.txt)
STAMP := .venv/installed-$(VERSION)
RUN := .venv/bin/python
PIP := $(RUN) -m pip --quiet --disable-pip-version-check --no-input install
PYTEST := $(RUN) -m pytest
# A process for each core, but a large machine gains nothing from starting dozens.
PARALLEL := -n auto --maxprocesses 4
PARTS := build/verification/parts

.PHONY: help setup fast test verify check clients bench docs site torture hunt night wheel rfc \
	rfc-index clean

help: ## say what each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## make .venv (every other target does it by itself)

$(STAMP): pyproject.toml $(CONSTRAINTS)
ifeq ($(CHOSEN),)
	@echo "quiesce needs Python 3.11 or newer, with the modules venv and ensurepip; tried:" \
		"$(CANDIDATES). Install one (on Debian also python3-venv) or say make PYTHON=/path/to/python." >&2
	@exit 2
else
	@echo "setting up .venv with Python $(VERSION), $(CONSTRAINTS)"
	@# A .venv of another Python, or without pip, is made anew.
	@.venv/bin/python -c 'import sys, pip; assert "%d.%d" % sys.version_info[:2] == "$(VERSION)"' \
		>/dev/null 2>&1 || "$(CHOSEN)" -m venv --clear .venv
	@# First the pinned list, the build tool included; then the project, built with that tool.
	@$(PIP) -r $(CONSTRAINTS)
	@$(PIP) -c $(CONSTRAINTS) --no-build-isolation -e '.[dev]'
	@touch $@
endif

fast: $(STAMP) ## unit, specification and house tests
	$(PYTEST) $(PARALLEL) -m "not slow" $(wildcard tests/unit tests/spec tests/house)

test: $(STAMP) ## everything but the slow tests: suites at profile ci, schedules with one deviation
	$(PYTEST) $(PARALLEL) -m "not slow" --deviations 1

# First what needs the project itself: its mutants, its cases under every schedule with at most two
# deviations, and the tests of what is no matter of schedules. They write their criteria into PARTS.
# Then the command a stranger would run on a runtime of their own, which merges those parts into one
# table and one report. The verdict is given even when the first step fails, and says what broke.
DIRECTED := tests/unit/test_public_api.py tests/unit/test_foreign_models.py \
	tests/unit/context/test_ownership.py tests/unit/test_foreign_cancellation.py \
	tests/conformance/test_context_suite.py tests/conformance/test_connection_suite.py \
	tests/conformance/test_kept_sessions.py tests/conformance/test_store_suite.py \
	tests/conformance/test_bash_suite.py tests/unit/bash/test_tool_bash.py \
	tests/unit/bash/test_tool_bash_notices.py tests/unit/test_keeper.py \
	tests/conformance/test_acp_suite.py tests/conformance/test_acp_followed.py \
	tests/spec/gate/test_our_corpus.py tests/spec/spin \
	tests/spec/test_explorer.py tests/spec/test_worlds.py tests/conformance/test_verify_command.py

verify: $(STAMP) ## the verdict on every invariant: cases, mutants, explorer, suites
	@rm -rf $(PARTS) && mkdir -p $(PARTS)
	@failed=0; \
	$(PYTEST) -q $(PARALLEL) -p tests.conformance.directed --deviations 2 --parts $(PARTS) \
		tests/mutants tests/cases $(DIRECTED) || failed=2; \
	$(RUN) -m statemachine.conformance verify --subject runtime.subject:make_subject \
		--merge $(PARTS) || failed=$$?; \
	exit $$failed

check: $(STAMP) ## lint, format, types, layers, RFCs, freshness of generated files
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy statemachine runtime tests specs/gate
	$(RUN) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'
	$(RUN) -m statemachine render --check
	$(RUN) -m tests.house.pages --check
	@$(MAKE) rfc

clients: $(STAMP) ## drive the ACP bridge with real clients (those in Node need npm)
	$(RUN) -m tests.clients

bench: $(STAMP) ## what turns, lives, decisions and idle agents cost, as ratios of one run
	$(PYTEST) -p pytest_benchmark.plugin tests/benchmarks

docs: $(STAMP) ## write specs/generated: the declaration, records, seams, claims, which test checks what
	$(RUN) -m statemachine render
	$(RUN) -m tests.house.pages

# What others import, with the kit for their own runtimes; `__all__` says what is public.
# `lifecycle_suite` is imported only when asked for: pdoc warns of it, and shows its own module.
site: $(STAMP) ## write the API reference into build/docs
	$(RUN) -m pdoc --docformat google --no-show-source --output-directory build/docs \
		runtime statemachine statemachine.conformance statemachine.conformance.suite.suite

# How long the searches that somebody starts by hand go on; each can be given on the command line.
SECONDS := 600
KILLS := 1000
JOBS := 1000
DEVIATIONS := 3
PROFILE := night

torture: $(STAMP) ## kill processes at random instants, start nasty ones, and look for what is lost or left
	$(RUN) -m tests.torture --kills $(KILLS)
	$(RUN) -m tests.real.bash_torture --jobs $(JOBS) --seconds 7200

hunt: $(STAMP) ## random programs for ten minutes (SECONDS=600); a failure leaves a test file in build/hunt
	$(RUN) -m statemachine.conformance verify --subject runtime.subject:make_subject \
		--profile fast --seconds $(SECONDS) --report build/hunt/report.json

# What nobody waits for. All steps run even when one fails, and each says what it is at. No test may
# take longer than four hours. A night of minutes, to see that it works: make night DEVIATIONS=1
# PROFILE=fast NIGHT="SECONDS=20 KILLS=50 JOBS=50"
NIGHT := SECONDS=7200 KILLS=20000 JOBS=10000

night: $(STAMP) ## hours: every schedule with three deviations, suites at length, a long hunt, torture
	@failed=0; \
	$(PYTEST) -v $(PARALLEL) --timeout 14400 --deviations $(DEVIATIONS) tests/cases || failed=1; \
	$(PYTEST) -v $(PARALLEL) --timeout 14400 --hypothesis-profile $(PROFILE) \
		tests/conformance tests/spec || failed=1; \
	$(MAKE) hunt $(NIGHT) || failed=1; \
	$(MAKE) torture $(NIGHT) || failed=1; \
	exit $$failed

wheel: $(STAMP) ## build the wheel into build/wheel
	$(RUN) -m hatchling build --target wheel --directory build/wheel

# The corpus of RFCs: ours, or another one with ROOT=dir.
ROOT := specs/rfc

rfc: $(STAMP) ## check where the RFCs lie, their format and their index (ROOT=dir: of another corpus)
	@failed=0; \
	for gate in verify-classification verify-format; do \
		$(RUN) specs/gate $$gate "$(ROOT)" || failed=1; \
	done; \
	exit $$failed

rfc-index: $(STAMP) ## write INDEX.md from the RFCs (ROOT=dir: of another corpus)
	@$(RUN) specs/gate gen-index "$(ROOT)"

clean: ## remove what was built and cached, but not .venv
	rm -rf build dist .benchmarks .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find statemachine runtime tests specs -name __pycache__ -type d -prune -exec rm -rf {} +
