# `make` prints the targets. Needs Python 3.10 to 3.14 and make; everything else is installed into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO ?= mass-spring
ARGS ?=
ifdef SUBSTRATE
export DIFFTILE_SUBSTRATE := $(SUBSTRATE)
endif

# Tests start hundreds of processes, each of which would compile all modules from their source.
unexport PYTHONDONTWRITEBYTECODE

PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all lint style types suite sample format docs pages dist clean

help: ## print this help
	@echo "usage: make TARGET [PYTHON=python3.12] [SUBSTRATE=quadrants] [DEMO=name] [ARGS='for the demo or pytest']"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-9s %s\n", $$1, $$2 }'

demo: $(VENV)/installed ## run a demo: mass-spring, or the one that DEMO names
	@$(BIN)/difftile demo $(DEMO) $(ARGS)

test: lint suite ## run the checks of `lint` and tiers 0 to 3 of the tests; BASE=main leaves out what has not changed

test-all: lint ## run the checks of `lint` and all tests, the slow ones too, and compile all programs
	@$(MAKE) --no-print-directory suite ARGS="--tier 0-4 --no-record --long all $(ARGS)"

suite: $(VENV)/installed-dev
	@$(BIN)/python -m pytest $(ARGS)

sample: $(VENV)/installed-dev ## run one test in twenty of each file: on the other substrate with SUBSTRATE=quadrants
	@$(BIN)/python -m pytest --sample 20 $(ARGS)

lint: style types ## check format, lint and types

style: $(VENV)/installed-dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: $(VENV)/installed-dev
	@$(BIN)/pyrefly check --python-interpreter-path $(BIN)/python --progress-bar no

format: $(VENV)/installed-dev ## format the code and apply the fixes that ruff can make
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: ## build the documentation, running the demos that changed for its gallery
pages: ## build the documentation without running demos
docs pages: $(VENV)/installed-docs
	@$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --conf-dir docs --doctree-dir build/doctrees \
	    $(if $(filter pages,$@),-D plot_gallery=0) . build/docs
	@echo "build/docs/docs/index.html"

dist: $(VENV)/installed-dist ## build and check an sdist and a wheel
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist . >build/dist.log 2>&1 || { tail -20 build/dist.log; false; }
	@$(BIN)/twine check --strict dist/*

clean: ## remove .venv, build products, caches and the output of demos
	rm -rf $(VENV) build docs/gallery dist out *.egg-info .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps stand for a finished step: after a failed one, the next run does it again.
$(VENV)/created:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 10) <= v < (3, 15) else \
	    "difftile needs Python 3.10 to 3.14, and $(PYTHON) is %d.%d: name another with PYTHON=" % v)'
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/created pyproject.toml
	@echo "installing difftile into $(VENV)"
	@$(PIP_INSTALL) '.[demo]'
	@touch $@

$(VENV)/installed-dev: $(VENV)/created pyproject.toml
	@echo "installing difftile and its development tools into $(VENV)"
	@$(PIP_INSTALL) '.[dev]'
	@touch $@ $(VENV)/installed

# Separate from the stamp of `test`, which does not need these packages.
$(VENV)/installed-dist: $(VENV)/created pyproject.toml
	@echo "installing difftile and the tools of a release into $(VENV)"
	@$(PIP_INSTALL) '.[dist]'
	@mkdir -p build
	@touch $@ $(VENV)/installed

$(VENV)/installed-docs: $(VENV)/created pyproject.toml
	@echo "installing difftile and its documentation tools into $(VENV)"
	@$(PIP_INSTALL) '.[docs]'
	@touch $@ $(VENV)/installed
