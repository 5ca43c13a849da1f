# Two commands matter: `make run` and `make test`. Both prepare what they need.

.PHONY: run setup setup-dev test check bench format lock
.DEFAULT_GOAL := run

# the newest Python that is new enough; empty where there is none
PYTHON := $(shell for name in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then echo $$name; break; fi; done)
ifeq ($(PYTHON),)
$(error Python 3.11 or newer is needed and none was found on the path)
endif

export VENV
BIN := $(if $(VENV),$(VENV),.venv)/bin
FAST := not browser and not fault and not services and not shared and not slow
ALONE := browser or fault or services

run: ## the whole product on this machine, at http://127.0.0.1:8000/ (PORT=8123 for another)
	@exec $(PYTHON) -m launch run

setup: ## what `make run` and `make test` share: the virtual environment with the locked packages
	@$(PYTHON) -m launch setup

setup-dev:
	@$(PYTHON) -m launch setup-dev

# what starts real servers, browsers and workers runs alone, the rest side by side
test: setup-dev ## every test: unit, web, browser, faults, services
	$(BIN)/python -m pytest -q -n 2 -m "not ($(ALONE))" $(PYTEST_ARGS)
	$(BIN)/python -m pytest -m "$(ALONE)" $(PYTEST_ARGS)

check: setup-dev ## the fast gate, under two minutes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy costs planner launch
	$(BIN)/python -m pytest -q -n 2 -m "$(FAST)" $(PYTEST_ARGS)

format: setup-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup-dev ## the speed budgets, written to benchmarks/
	$(BIN)/python -m benchmarks

# uv is not needed for anything else; it writes the locks for every system and Python at once
lock:
	@command -v uv >/dev/null || { echo "make lock needs uv (pip install uv)"; exit 1; }
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--extra server -o requirements.lock pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--extra server --extra dev -c requirements.lock -o requirements-dev.lock pyproject.toml
