# make demo   a real diagnosis of a sample bundle
# make test   everything that a change must pass (fast forms of the slow tests)
# make test-all   the slow whole; writes the tables in docs/
# make bench   ours beside gzip, ripgrep, grep, lnav; writes docs/performance.md (ten minutes, 3 GB of disk)

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SAMPLE := samples/syntax-error-zombie/bundle.tar.gz

.PHONY: demo test test-all lint system-packages bench clean

$(BIN)/postmortem: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.dev: pyproject.toml $(BIN)/postmortem
	$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(BIN)/postmortem
	$(BIN)/postmortem analyze $(SAMPLE)

system-packages:
	sh tests/system-packages.sh

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/mypy

test: system-packages lint
	$(BIN)/pytest -n 2 -m "not slow"

test-all: system-packages lint
	POSTMORTEM_WRITE_DOCS=1 $(BIN)/pytest -n 2

bench: $(VENV)/.dev
	$(BIN)/python bench/speed.py --out docs/performance.md

clean:
	rm -rf $(VENV) dist build src/postmortem/ready .mypy_cache .ruff_cache .pytest_cache
