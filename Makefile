# batchcrawl: set up, try, test, and run crawls as pipelines. `make help` lists the targets.

SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOB ?= demo
ROUNDS ?= 1
# Where the crawl of the job lies; a job with `data = ...` in it needs CRAWL=that/directory.
CRAWL ?= data/$(JOB)

ifneq ($(words $(JOB)),1)
$(error JOB is '$(JOB)'; it must be the name of one job, without spaces)
endif
ifneq ($(shell case '$(ROUNDS)' in (''|0*|*[!0-9]*) echo wrong;; esac),)
$(error ROUNDS is '$(ROUNDS)'; it must be a number from 1)
endif

.PHONY: help setup demo round crawl test test-slow fuzz check lint bench docs docs-crawl browser-check clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

# --- set-up ---------------------------------------------------------------------------------------

setup: $(READY) ## make .venv with batchcrawl and the development tools

$(READY): pyproject.toml .ci/constraints.txt .ci/find-python
	@python=$$(.ci/find-python) && "$$python" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint .ci/constraints.txt \
		--editable . --group dev
	@touch $@

# --- a crawl as a pipeline ------------------------------------------------------------------------
# The steps are targets on the stamps of the oldest segment that is not updated yet. Where there is none, `next`
# stands for the segment that generate is about to make; it is never a file, so its four steps run in order.

UNFINISHED := $(firstword $(foreach s,$(sort $(wildcard $(CRAWL)/segments/*Z)),$(if $(wildcard $(s)/.updated),,$(s))))
SEGMENT := $(or $(UNFINISHED),$(CRAWL)/segments/next)
STEP_OPTIONS := $(if $(UNFINISHED),--segment $(notdir $(UNFINISHED)))

round: $(SEGMENT)/.updated ## one round of JOB=name (CRAWL=dir if the job sets data); continues an interrupted one at the step that was cut

$(CRAWL)/crawl.toml: | $(READY)
	$(BIN)/batchcrawl inject $(JOB)

# 4 is "nothing due": the steps behind it then find nothing to do.
$(SEGMENT)/.generated: | $(CRAWL)/crawl.toml
	$(BIN)/batchcrawl generate $(JOB) || { code=$$?; test $$code -eq 4 || exit $$code; }

# 15 is "time limit reached": what was fetched goes on to the next steps.
$(SEGMENT)/.fetched: $(SEGMENT)/.generated
	$(BIN)/batchcrawl fetch $(JOB) $(STEP_OPTIONS) || { code=$$?; test $$code -eq 15 || exit $$code; }

$(SEGMENT)/.parsed: $(SEGMENT)/.fetched
	$(BIN)/batchcrawl parse $(JOB) $(STEP_OPTIONS)

$(SEGMENT)/.updated: $(SEGMENT)/.parsed
	$(BIN)/batchcrawl update $(JOB) $(STEP_OPTIONS)

crawl: $(READY) ## ROUNDS=n rounds of JOB=name
	@for n in $$(seq $(ROUNDS)); do $(MAKE) --no-print-directory round || exit $$?; done

# --- try, test, measure ---------------------------------------------------------------------------

demo: $(READY) ## crawl a synthetic web on this machine and compare the crawl with what is there
	@tests/support/demo.sh $(BIN)/batchcrawl

test: $(READY) ## the tests
	$(BIN)/python -m pytest -n auto -m "not slow"

test-slow: $(READY) ## the long ones: hundreds of random kills
	$(BIN)/python -m pytest -n auto -m slow

fuzz: $(READY) ## the readers of bytes from elsewhere, on FUZZ_EXAMPLES=n inputs each
	FUZZ_EXAMPLES=$(or $(FUZZ_EXAMPLES),5000) $(BIN)/python -m pytest -n auto tests/fuzz

check: lint test ## everything that CI holds: lint, format, types, layers, shape rules, tests

lint: $(READY) ## lint, format, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY) ## the figures, as ratios measured side by side
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint .ci/constraints.txt --group bench
	$(BIN)/python -m tests.bench

docs: $(READY) ## write the references in docs/ anew from the code
	$(BIN)/python -m tests.support.references

docs-crawl: $(READY) ## crawl Debian documentation packages, served by nginx, and compare with a walk of them
	$(BIN)/python -m tests.support.docs_crawl

browser-check: $(READY) ## hold the links, base and charset of Debian documentation pages against headless Chromium
	$(BIN)/python -m tests.support.browser_check

clean: ## remove .venv and caches; crawls stay
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
